/** The same in files of ten thousand lines: neither slower than a reader nor less careful. */
import type { Change } from "./change.ts";
import { type CaseMaker, type Corruption, recoverable } from "./draft.ts";
import { indentCorruptions } from "./indent-corruptions.ts";
import { commentLine } from "./language.ts";
import type { SeededRandom } from "./seeded-random.ts";
import { staleOf } from "./stale-cases.ts";

const wantedLines = 10_000;
const words = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta"];

/** Comments of all sorts behind the file's own lines. */
function withFiller(change: Change, random: SeededRandom): Change | undefined {
  if (commentLine(change.language, "") === undefined || !change.style.final) return undefined;
  const filler = Array.from({ length: Math.max(0, wantedLines - change.before.length) }, (_, index) => {
    const text = `${index % 7 === 0 ? index : ""} ${random.pick(words)} ${random.pick(words)}, ${random.pick(words)}`;
    return index % 11 === 10 ? "" : (commentLine(change.language, text) ?? "");
  });
  return { ...change, before: [...change.before, ...filler], after: [...change.after, ...filler] };
}

const exact: Corruption = { name: "large-file", fold: "exact", prepare: withFiller };

const shifted = indentCorruptions
  .filter(({ name }) => name === "indent-deeper")
  .map(
    (corruption): Corruption => ({ ...corruption, name: "large-file-indent-deeper", prepare: withFiller }),
  );

export const largeFileMakers: readonly CaseMaker[] = [
  ...[exact, ...shifted].map(recoverable),
  ...shifted.map(staleOf),
];
