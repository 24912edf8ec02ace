/**
 * Builds the corpus: real changes times corruptions times formats, the same for the same seed and sources.
 */
import { ambiguityMakers, ambiguous } from "./ambiguity-cases.ts";
import { type Change, changesOf } from "./change.ts";
import { cleanMakers } from "./clean-cases.ts";
import { type CaseMaker, type Corruption, recoverable } from "./draft.ts";
import type { EditCase, EditFormat, FilePair } from "./edit-case.ts";
import { endingMakers } from "./ending-cases.ts";
import { guardMakers } from "./guard-cases.ts";
import { indentCorruptions } from "./indent-corruptions.ts";
import { commentLine } from "./language.ts";
import { lookalikeMakers } from "./lookalike-cases.ts";
import { nearTwinMakers } from "./near-twin-cases.ts";
import { occurrences } from "./oracle.ts";
import { createSeededRandom, type SeededRandom } from "./seeded-random.ts";
import { shapeCorruptions } from "./shape-corruptions.ts";
import { spaceCorruptions } from "./space-corruptions.ts";
import { staleMakers, staleOf } from "./stale-cases.ts";
import { unicodeCorruptions } from "./unicode-corruptions.ts";
import { wrapperCorruptions } from "./wrapper-corruptions.ts";

const wantedLines = 10_000;

const words = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta"];

const exact: Corruption = { name: "large-file", fold: "exact", prepare: withFiller };

const shifted = indentCorruptions
  .filter(({ name }) => name === "indent-deeper")
  .map(
    (corruption): Corruption => ({ ...corruption, name: "large-file-indent-deeper", prepare: withFiller }),
  );

const largeFileMakers: readonly CaseMaker[] = [
  ...[exact, ...shifted].map(recoverable),
  ...shifted.map(staleOf),
];

export interface CorpusOptions {
  readonly seed: number;
  /**
   * Cases of each corruption in each format, if the sources have enough; a third for cases that must all be
   * refused.
   */
  readonly each: number;
}

const corruptions: readonly Corruption[] = [
  ...indentCorruptions,
  ...spaceCorruptions,
  ...unicodeCorruptions,
  ...wrapperCorruptions,
  ...shapeCorruptions,
];

const plain: Corruption = { name: "clean", fold: "exact" };

/** These corruptions name their place explicitly, or concern no places. */
const saysPlace = /numbers-in-v4a|^line-numbers|^hunk-|header|elision|out-of-order|^clean-/;
const notTwinned = /^(old-newline-only|indent-dropped-one-line|surrounding)/;

export const caseMakers: readonly CaseMaker[] = [
  ...cleanMakers,
  ...endingMakers,
  ...corruptions.map(recoverable),
  ...ambiguityMakers,
  ...staleMakers,
  ...guardMakers,
  ...lookalikeMakers,
  ...nearTwinMakers,
];

/**
 * The corruptions again, on targets where even the correct text must be refused; and again in large files.
 */
export const fewMakers: readonly CaseMaker[] = [
  ...[plain, ...corruptions]
    .filter(({ name }) => !saysPlace.test(name) && !notTwinned.test(name))
    .map(ambiguous),
  ...corruptions.filter(({ name }) => !name.startsWith("clean-")).map(staleOf),
  ...largeFileMakers,
];

const maxChangesOfFile = 4;
const maxTries = 1500;
const longestFile = 4000;

/** Every case of the corpus, ordered by maker and format. */
export function editCases(pairs: readonly FilePair[], { seed, each }: CorpusOptions): EditCase[] {
  const changes = interleaved(changesFrom(pairs, seed), seed);
  if (changes.length === 0) return [];
  const few = Math.ceil(each / 3);
  const wanted = [
    ...caseMakers.map((maker) => ({ maker, each })),
    ...fewMakers.map((maker) => ({ maker, each: few })),
  ];
  return wanted.flatMap(({ maker, each: most }) =>
    maker.formats.flatMap((format) => {
      const random = createSeededRandom(`${seed}/${maker.name}/${format}`);
      const start = random.below(changes.length);
      const ordered = [...changes.slice(start), ...changes.slice(0, start)];
      return casesOf(maker, ordered.slice(0, maxTries), { format, each: most, seed: `${seed}` });
    }),
  );
}

interface Wanted {
  readonly format: EditFormat;
  readonly each: number;
  readonly seed: string;
}

function casesOf(maker: CaseMaker, changes: readonly Change[], { format, each, seed }: Wanted): EditCase[] {
  const cases: EditCase[] = [];
  const seen = new Set<string>();
  for (const [index, change] of changes.entries()) {
    if (cases.length >= each) break;
    const random = createSeededRandom(`${seed}/${maker.name}/${format}/${index}/${change.path}`);
    const made = maker.make(change, format, random);
    const key = JSON.stringify(made?.request);
    if (made === undefined || seen.has(key) || changesNothing(made) || isUnclear(made)) continue;
    seen.add(key);
    const { source, language } = change;
    const request = { ...made.request, id: `${maker.name}/${format}/${cases.length}` };
    cases.push({ request, expect: made.expect, corruption: maker.name, source, language });
  }
  return cases;
}

function changesNothing({ request, expect }: Pick<EditCase, "request" | "expect">): boolean {
  return "content" in expect && expect.content === request.content;
}

/** The edit should be applied, but its text with the corruption's suffix occurs twice. */
function isUnclear({
  request: { content, edits = [] },
  expect,
}: Pick<EditCase, "request" | "expect">): boolean {
  return (
    "content" in expect &&
    edits.some(({ old_string, replace_all }) => !replace_all && occurrences(content, old_string) > 1)
  );
}

function changesFrom(pairs: readonly FilePair[], seed: number): Change[] {
  const suitable = pairs.filter(({ before }) => before.split("\n").length <= longestFile);
  return suitable.flatMap((pair) => {
    const random = createSeededRandom(`${seed}/${pair.path}`);
    return random.shuffled(changesOf(pair, random, 4)).slice(0, maxChangesOfFile);
  });
}

/** Shuffles, then takes one change of each language in turn, so that no language crowds out the others. */
function interleaved(changes: readonly Change[], seed: number): Change[] {
  const random = createSeededRandom(`${seed}/order`);
  const byLanguage = Map.groupBy(random.shuffled(changes), ({ language }) => language);
  const queues = [...byLanguage.keys()].sort().map((language) => byLanguage.get(language) ?? []);
  const longest = Math.max(0, ...queues.map((queue) => queue.length));
  return Array.from({ length: longest }, (_, turn) =>
    queues.flatMap((queue) => (turn < queue.length ? [queue[turn] as Change] : [])),
  ).flat();
}

/** Adds all sorts of comments after the file's own lines. */
function withFiller(change: Change, random: SeededRandom): Change | undefined {
  if (commentLine(change.language, "") === undefined || !change.style.final) return undefined;
  const filler = Array.from({ length: Math.max(0, wantedLines - change.before.length) }, (_, index) => {
    const text = `${index % 7 === 0 ? index : ""} ${random.pick(words)} ${random.pick(words)}, ${random.pick(words)}`;
    return index % 11 === 10 ? "" : (commentLine(change.language, text) ?? "");
  });
  return { ...change, before: [...change.before, ...filler], after: [...change.after, ...filler] };
}
