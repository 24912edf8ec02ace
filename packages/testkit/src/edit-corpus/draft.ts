/** A clean edit of a change in one format, and judged cases made from it. */
import { type Change, type Hunk, newLines, oldEnd, oldLines, widen } from "./change.ts";
import type { EditFormat, EditRequest, Expectation } from "./edit-case.ts";
import { exactPlaces, type Fold, isCertain, isInformative, laxText } from "./oracle.ts";
import { type PatchDress, requestOf } from "./render.ts";
import type { SeededRandom } from "./seeded-random.ts";
import { isBlank, writeLines } from "./text-lines.ts";

export interface Draft {
  readonly change: Change;
  readonly hunks: readonly Hunk[];
  readonly format: EditFormat;
  readonly random: SeededRandom;
}

export interface DraftedCase {
  readonly request: EditRequest;
  readonly expect: Expectation;
}

/** Makes one case of its kind from a change; none if the change does not suit it. */
export interface CaseMaker {
  readonly name: string;
  readonly formats: readonly EditFormat[];
  readonly make: (change: Change, format: EditFormat, random: SeededRandom) => DraftedCase | undefined;
}

/** A way to spoil a correct edit without hiding its intent. */
export interface Corruption {
  readonly name: string;
  readonly formats?: readonly EditFormat[];
  /** The strictest reading under which the spoiled text still matches the file. */
  readonly fold: Fold;
  /** Changes both versions of the file alike, before the edit is written. */
  readonly prepare?: (change: Change, random: SeededRandom) => Change | undefined;
  readonly spoilHunks?: (draft: Draft) => readonly Hunk[] | undefined;
  readonly dress?: (draft: Draft) => PatchDress;
  readonly spoilRequest?: (request: EditRequest, draft: Draft) => EditRequest | undefined;
  /** Minimum and maximum lines of context for strings; patches have three. */
  readonly context?: readonly [number, number];
  readonly orRefuse?: true;
  /** Lines that change only in white space do not mislead it. */
  readonly allowsReindent?: true;
}

export const patchFormats: readonly EditFormat[] = ["v4a", "udiff"];
export const stringFormats: readonly EditFormat[] = ["search_replace"];

const maxContext = 12;

/** Hunks with the format's context, each at exactly one place; none if that is impossible. */
export function draftHunks(
  change: Change,
  format: EditFormat,
  { random, context = [0, 2] }: { random: SeededRandom; context?: readonly [number, number] | undefined },
): readonly Hunk[] | undefined {
  const drafted = change.cores.map((core, index) => {
    const limits = limitsOf(change, index);
    if (format !== "search_replace") return widen(change, core, { above: 3, below: 3, limits });
    const lines = (): number => context[0] + random.below(context[1] - context[0] + 1);
    return grown(change, core, { above: lines(), below: lines(), limits });
  });
  const whole = drafted.filter((hunk) => hunk !== undefined);
  const unique = whole.every((hunk) => exactPlaces(change.before, oldLines(hunk), format) === 1);
  return unique && whole.length === change.cores.length && whole.every(endIsPlain(change, format))
    ? whole
    : undefined;
}

/**
 * Without a final newline, a patch that removes the last line, or a unified diff that adds one, is ambiguous.
 */
function endIsPlain(change: Change, format: EditFormat): (hunk: Hunk) => boolean {
  return (hunk) => {
    const strings = format === "search_replace";
    if (strings || change.style.final || oldEnd(hunk) < change.before.length) return true;
    const lastOld = hunk.ops.findLast(({ kind }) => kind !== "+");
    const lastNew = hunk.ops.findLast(({ kind }) => kind !== "-");
    if (lastOld === lastNew || (lastOld?.kind === "-" && lastNew?.kind === "+")) return true;
    return format === "v4a" && lastNew?.kind === "+";
  };
}

/** Half the way to the neighbours, so that no two hunks share a line. */
function limitsOf(change: Change, index: number): readonly [number, number] {
  const [before, core, after] = [change.cores[index - 1], change.cores[index], change.cores[index + 1]];
  const middle = (a: Hunk, b: Hunk): number => Math.floor((oldEnd(a) + b.start) / 2);
  const from = before === undefined ? 0 : middle(before, core as Hunk);
  const to = after === undefined ? change.before.length : middle(core as Hunk, after);
  return [from, to];
}

interface Growth {
  readonly above: number;
  readonly below: number;
  readonly limits: readonly [number, number];
}

function grown(change: Change, core: Hunk, { above, below, limits }: Growth): Hunk | undefined {
  for (let more = 0; more <= maxContext; more++) {
    const up = above + Math.ceil(more / 2);
    const hunk = widen(change, core, { above: up, below: below + Math.floor(more / 2), limits });
    const empty = oldLines(hunk).length === 0 || newLines(hunk).length === 0;
    const unique = exactPlaces(change.before, oldLines(hunk), "search_replace") === 1;
    if (!empty && unique && isInformative(hunk)) return hunk;
  }
  return undefined;
}

/** The judged case of a recoverable corruption; none if it does not apply or leaves a doubt. */
export function recoverable(corruption: Corruption): CaseMaker {
  const { name, formats = ["search_replace", "v4a", "udiff"], orRefuse } = corruption;
  const make: CaseMaker["make"] = (original, format, random) => {
    const change = corruption.prepare ? corruption.prepare(original, random) : original;
    const hunks = change && draftHunks(change, format, { random, context: corruption.context });
    if (change === undefined || hunks === undefined || isTrap(corruption, hunks)) return undefined;
    const spoiled = spoil(corruption, { change, hunks, format, random });
    if (spoiled === undefined || !leavesNoDoubt(corruption, change, { ...spoiled, format })) return undefined;
    const content = writeLines(change.after, change.style);
    return { request: spoiled.request, expect: orRefuse ? { content, orRefuse } : { content } };
  };
  return { name, formats, make };
}

function leavesNoDoubt(
  { fold }: Corruption,
  change: Change,
  spoiled: { readonly hunks: readonly Hunk[]; readonly format: EditFormat },
): boolean {
  const { hunks, format } = spoiled;
  const few = hunks.every((hunk) => {
    const old = oldLines(hunk);
    const own = change.before.slice(hunk.start, hunk.start + old.length);
    return exactPlaces(change.before, old, format) <= (laxText(old) === laxText(own) ? 1 : 0);
  });
  return few && (fold === "exact" || isCertain(change, hunks, fold));
}

function isTrap({ fold, allowsReindent }: Corruption, hunks: readonly Hunk[]): boolean {
  return fold !== "exact" && !allowsReindent && hunks.some(isReindent);
}

/** A removed line returns with different white space: a tolerant reader may treat both as the same. */
function isReindent({ ops }: Hunk): boolean {
  const side = (kind: string): string[] =>
    ops.filter((op) => op.kind === kind && !isBlank(op.text)).map(({ text }) => laxText([text]));
  const added = new Set(side("+"));
  return side("-").some((text) => added.has(text));
}

/** The spoiled hunks and the request written from them; none if nothing was spoiled. */
export function spoil(
  corruption: Corruption,
  draft: Draft,
): { readonly request: EditRequest; readonly hunks: readonly Hunk[] } | undefined {
  const { spoilHunks, spoilRequest, dress } = corruption;
  const hunks = spoilHunks ? spoilHunks(draft) : draft.hunks;
  if (hunks === undefined) return undefined;
  if (spoilHunks && JSON.stringify(hunks) === JSON.stringify(draft.hunks)) return undefined;
  const given = dress?.({ ...draft, hunks });
  const form = { format: draft.format, ...(given === undefined ? {} : { dress: given }) };
  const request = requestOf(draft.change, hunks, form);
  const dressed = spoilRequest ? spoilRequest(request, { ...draft, hunks }) : request;
  return dressed === undefined ? undefined : { request: dressed, hunks };
}

/** Maps each line of each hunk through one function. */
export function mapOps(
  hunks: readonly Hunk[],
  map: (op: Hunk["ops"][number], index: number, hunk: Hunk) => string,
): Hunk[] {
  return hunks.map((hunk) => ({
    ...hunk,
    ops: hunk.ops.map((op, index) => ({ ...op, text: map(op, index, hunk) })),
  }));
}
