/** Reads a choice of hunks by number; numbers count from 1 through all files of an edit. */
import { type EditPart, type FileOfHunks, partOf } from "@lathe/protocol";

const numbers = /^\d{1,6}(?:\s*-\s*\d{1,6})?(?:(?:\s*,\s*|\s+)\d{1,6}(?:\s*-\s*\d{1,6})?)*$/;

/** Reads `1,3` or `2-4 6`; undefined for other text, a message for numbers out of range. */
export function partOfNumbers(words: string, files: readonly FileOfHunks[]): EditPart | string | undefined {
  if (!numbers.test(words)) return undefined;
  const all = files.flatMap(({ hunks }, file) => hunks.map((_, hunk) => ({ file, hunk })));
  const taken = new Set<number>();
  for (const [, first = "", last = first] of words.matchAll(/(\d+)(?:\s*-\s*(\d+))?/g)) {
    const [from, to] = [Number(first), Number(last)];
    if (from < 1 || to > all.length || from > to) {
      const what = from === to ? `hunk ${from}` : `range ${from}-${to}`;
      return `there is no ${what}: this edit has ${all.length} hunks, from 1 to ${all.length}`;
    }
    for (let at = from; at <= to; at++) taken.add(at - 1);
  }
  return partOf(
    files,
    files.map((_, file) => all.flatMap((one, at) => (one.file === file && taken.has(at) ? [one.hunk] : []))),
  );
}
