/** Targets that match several places: an edit that names one of them is applied, any other is refused. */
import { type Change, type Hunk, oldLines, widen } from "./change.ts";
import { type CaseMaker, type Corruption, type DraftedCase, spoil, stringFormats } from "./draft.ts";
import { type EditFormat, type EditRequest, editFormats } from "./edit-case.ts";
import { exactPlaces, isInformative, laxText, occurrences, placesOf, textOf } from "./oracle.ts";
import { requestOf, rightNumbers } from "./render.ts";
import type { SeededRandom } from "./seeded-random.ts";
import { isBlank, writeLines } from "./text-lines.ts";
import { type Twin, twinOf } from "./twin.ts";

/** The hunk with context only from inside its block, so that the twin has the same lines. */
export function insideBlock({ change, block }: Twin, format: EditFormat, random: SeededRandom): Hunk {
  const lines = (): number => (format === "search_replace" ? random.below(4) : 3);
  const limits = [block.opening + 1, block.bodyEnd] as const;
  return widen(change, change.cores[0] as Hunk, { above: lines(), below: lines(), limits });
}

/** Starts of all places that are equal under the most tolerant reading of lines. */
export function candidateStarts(change: Change, hunk: Hunk): number[] {
  const wanted = laxText(oldLines(hunk));
  const { length } = oldLines(hunk);
  return change.before.flatMap((_, start) =>
    laxText(change.before.slice(start, start + length)) === wanted ? [start] : [],
  );
}

/** Unified diff line numbers that fit none of the candidates. */
function falseNumbers(change: Change, random: SeededRandom): (hunk: Hunk, delta: number) => string {
  return (hunk, delta) => {
    if (random.chance(0.3)) return "";
    const starts = candidateStarts(change, hunk);
    let start = hunk.start;
    while (starts.some((one) => Math.abs(one - start) < 2)) start += random.pick([3, 5, -3]);
    return rightNumbers({ ...hunk, start: Math.max(0, start) }, delta);
  };
}

/** Under every reading the text matches no place or several; under at least one it matches several. */
function isAmbiguous(file: readonly string[], old: readonly string[], format: EditFormat): boolean {
  const counts = [
    exactPlaces(file, old, format),
    placesOf(file, old, "exact"),
    placesOf(file, old, "trailing"),
    placesOf(file, old, "unicode"),
    placesOf(file, old, "lax"),
  ];
  return (counts.find((count) => count > 0) ?? 0) > 1 && !counts.includes(1);
}

/** The spoiled text is the exact text of another place. */
function namesThirdPlace({ content, edits = [] }: EditRequest): boolean {
  return edits.some(({ old_string }) => occurrences(content, old_string) === 1);
}

/** Applies the corruption to a target with a twin; the edit must be refused. */
export function ambiguous(corruption: Corruption): CaseMaker {
  const { formats = editFormats, name } = corruption;
  const make = (original: Change, format: EditFormat, random: SeededRandom): DraftedCase | undefined => {
    const prepared = corruption.prepare ? corruption.prepare(original, random) : original;
    const twin = prepared && twinOf(prepared, random);
    if (twin === undefined) return undefined;
    const { change } = twin;
    const hunks = [insideBlock(twin, format, random)];
    const spoiled = spoil(corruption, { change, hunks, format, random });
    if (spoiled === undefined || !hunks.every(isInformative)) return undefined;
    const clean = hunks.every((hunk) => exactPlaces(change.before, oldLines(hunk), format) > 1);
    const unclear = spoiled.hunks.every((hunk) => isAmbiguous(change.before, oldLines(hunk), format));
    if (!clean || (corruption.spoilHunks !== undefined && corruption.fold !== "exact" && !unclear))
      return undefined;
    const isEmpty = hunks.some((hunk) => textOf(oldLines(hunk)) === "");
    if (isEmpty || namesThirdPlace(spoiled.request)) return undefined;
    return { request: withFalseNumbers(spoiled.request, change, random), expect: { refuse: true } };
  };
  return { name: `ambiguous-${name}`, formats, make };
}

export function withFalseNumbers(request: EditRequest, change: Change, random: SeededRandom): EditRequest {
  if (request.format !== "udiff" || request.patch === undefined) return request;
  const hunk = widen(change, change.cores[0] as Hunk, { above: 0, below: 0 });
  const numbers = falseNumbers(change, random);
  const patch = request.patch.replace(/^@@.*$/gm, () => `@@${numbers(hunk, 0)}`);
  return { ...request, patch };
}

interface Resolved {
  readonly name: string;
  readonly format: EditFormat;
  readonly level: 1 | 2;
  readonly resolve: (twin: Twin, hunk: Hunk, random: SeededRandom) => Hunk | undefined;
  readonly refuse?: true;
  readonly orRefuse?: true;
}

/** The line as a V4A header. */
function lineText(twin: Twin, index: number): string {
  return (twin.change.before[index] ?? "").trim();
}

function timesIn(twin: Twin, header: string): number {
  return twin.change.before.filter((line) => line.trim() === header).length;
}

/** Exactly one candidate is between the opening line and the block's end, and none before the true one. */
function isOnlyInBlock({ change, block }: Twin, hunk: Hunk): boolean {
  const starts = candidateStarts(change, hunk).filter(
    (start) => start > block.opening && start < block.bodyEnd,
  );
  return starts.length === 1 && starts[0] === hunk.start;
}

function resolved(kind: Resolved): CaseMaker {
  const make = (original: Change, format: EditFormat, random: SeededRandom): DraftedCase | undefined => {
    const twin = twinOf(original, random, kind.level);
    if (twin === undefined) return undefined;
    const { change } = twin;
    const plain = insideBlock(twin, format, random);
    const named =
      isInformative(plain) && isOnlyInBlock(twin, plain) ? kind.resolve(twin, plain, random) : undefined;
    if (named === undefined || exactPlaces(change.before, oldLines(plain), format) < 2) return undefined;
    const request = requestOf(change, [named], { format });
    if (kind.refuse) return { request, expect: { refuse: true } };
    const content = writeLines(change.after, change.style);
    return { request, expect: kind.orRefuse ? { content, orRefuse: true } : { content } };
  };
  return { name: kind.name, formats: [kind.format], make };
}

const kinds: readonly Resolved[] = [
  { name: "line-numbers-resolve", format: "udiff", level: 1, resolve: (_, hunk) => hunk },
  {
    name: "header-resolves",
    format: "v4a",
    level: 1,
    resolve: (twin, hunk) => {
      const header = lineText(twin, twin.block.opening);
      return timesIn(twin, header) === 1 ? { ...hunk, header } : undefined;
    },
  },
  {
    name: "header-part-resolves",
    format: "v4a",
    level: 1,
    orRefuse: true,
    resolve: (twin, hunk) => {
      const header = lineText(twin, twin.block.opening).replace(/\s*[:{]$/, "");
      const whole = twin.change.before.join("\n");
      return occurrences(whole, header) === 1 && timesIn(twin, header) === 0
        ? { ...hunk, header }
        : undefined;
    },
  },
  {
    name: "headers-nested-resolve",
    format: "v4a",
    level: 2,
    resolve: (twin, hunk) => {
      const [outer, inner] = [lineText(twin, twin.outer ?? -1), lineText(twin, twin.block.opening)];
      const fits = timesIn(twin, outer) === 1 && timesIn(twin, inner) === 2;
      return fits ? { ...hunk, header: `${outer}\n@@ ${inner}` } : undefined;
    },
  },
  {
    name: "header-ambiguous",
    format: "v4a",
    level: 2,
    refuse: true,
    resolve: (twin, hunk) => {
      const header = lineText(twin, twin.block.opening);
      return timesIn(twin, header) === 2 ? { ...hunk, header } : undefined;
    },
  },
  {
    name: "header-unknown-ambiguous",
    format: "v4a",
    level: 1,
    refuse: true,
    resolve: (_, hunk, random) => ({
      ...hunk,
      header: random.pick(["def not_there(self):", "class Unknown {", "func missing() {"]),
    }),
  },
];

/** A short text that occurs in many places. */
const shortOld: CaseMaker = {
  name: "ambiguous-short-old",
  formats: stringFormats,
  make: (change, format, random) => {
    const short = change.before.filter((line) => !isBlank(line) && line.trim().length <= 12);
    const line = random.pick(short);
    const content = writeLines(change.before, change.style);
    if (line === undefined || placesOf(change.before, [line], "exact") < 2) return undefined;
    const edits = [{ old_string: line, new_string: `${line}\n${line}` }];
    return { request: { id: "", path: change.path, content, format, edits }, expect: { refuse: true } };
  },
};

/** A name that occurs in several places, without replace_all. */
const nameOnly: CaseMaker = {
  name: "ambiguous-name",
  formats: stringFormats,
  make: (change, format, random) => {
    const content = writeLines(change.before, change.style);
    const words: readonly string[] = content.match(/\b[A-Za-z_]\w{5,}\b/g) ?? [];
    const word = random.shuffled(words).find((one) => words.indexOf(one) !== words.lastIndexOf(one));
    if (word === undefined) return undefined;
    const edits = [{ old_string: word, new_string: `${word}Renamed` }];
    return { request: { id: "", path: change.path, content, format, edits }, expect: { refuse: true } };
  },
};

export const ambiguityMakers: readonly CaseMaker[] = [...kinds.map(resolved), shortOld, nameOnly];
