/**
 * The strictest engine, to test the corpus with: exact text at exactly one place; refuses everything else.
 */
import type { EditAnswer, EditRequest } from "./edit-case.ts";

interface Replacement {
  readonly old: string;
  readonly now: string;
  readonly all: boolean;
  /** Matches only at the start of a line. */
  readonly lines?: true;
}

interface Place {
  readonly at: number;
  readonly end: number;
  readonly now: string;
}

/** Reads patches as lists of hunks in the usual shape; uses neither line numbers nor headers as hints. */
export function strictEngine(request: EditRequest): EditAnswer {
  const { id, path, content } = request;
  const replacements = request.edits?.map(fromStrings) ?? fromPatch(request.patch ?? "");
  const places = placesOfAll(content, replacements);
  const filled = replacements.some(({ old, now }) => hasPlaceholder(now, old, path));
  if (places === undefined || filled)
    return { id, ok: false, code: "STRICT", error: "not exactly one place for each" };
  let written = content;
  for (const { at, end, now } of places) written = written.slice(0, at) + now + written.slice(end);
  return { id, ok: true, content: written };
}

function fromStrings(edit: { old_string: string; new_string: string; replace_all?: boolean }): Replacement {
  return { old: edit.old_string, now: edit.new_string, all: edit.replace_all === true };
}

/** Each hunk as whole lines, ended by newlines. */
function fromPatch(patch: string): Replacement[] {
  const lines = patch.split("\n").filter((line) => !/^(\*\*\*|diff |index |--- |\+\+\+ |\\ )/.test(line));
  const hunks: string[][] = [];
  for (const line of lines) {
    if (line.startsWith("@@") || (hunks.length === 0 && line !== "")) hunks.push([]);
    if (/^[-+ ]/.test(line)) hunks.at(-1)?.push(line);
  }
  const side = (hunk: readonly string[], signs: RegExp): string =>
    hunk.map((line) => (signs.test(line) ? `${line.slice(1)}\n` : "")).join("");
  return hunks.map((hunk) => ({
    old: side(hunk, /^[- ]/),
    now: side(hunk, /^[+ ]/),
    all: false,
    lines: true,
  }));
}

/**
 * From the file's end to its start; undefined if one has no unique place, changes nothing or overlaps
 * another.
 */
function placesOfAll(content: string, replacements: readonly Replacement[]): Place[] | undefined {
  const found = replacements.map((one) => placesOf(content, one));
  if (found.length === 0 || found.some((places) => places.length === 0)) return undefined;
  const places = found.flat().sort((a, b) => b.at - a.at);
  const meets = places.some(({ at }, index) => (places[index + 1]?.end ?? -1) > at);
  return meets ? undefined : places;
}

/** None if there are several places, or if nothing would change. */
function placesOf(content: string, { old, now, all, lines }: Replacement): Place[] {
  if (old === now) return [];
  if (content === "" && old === "") return [{ at: 0, end: 0, now }];
  const places: Place[] = [];
  if (old === "") return places;
  for (let at = content.indexOf(old); at !== -1; at = content.indexOf(old, at + 1)) {
    if (!lines || at === 0 || content[at - 1] === "\n") places.push({ at, end: at + old.length, now });
  }
  return places.length === 1 || all ? places : [];
}

/** In Python three dots alone are a valid body. */
function hasPlaceholder(text: string, before: string, path: string): boolean {
  const says = /^\s*(#|\/\/|\/\*|<!--)\s*[[(]?(\.\.\.|rest of|remaining code|existing impl)/;
  const known = new Set(before.split("\n"));
  const isOne = (line: string): boolean =>
    says.test(line) || (line.trim() === "..." && !path.endsWith(".py"));
  return text.split("\n").some((line) => isOne(line) && !known.has(line));
}
