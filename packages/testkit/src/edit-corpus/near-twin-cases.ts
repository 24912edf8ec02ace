/** Two blocks that differ only in spelling: the edit means the one closest in the stated order, else none. */
import { candidateStarts, insideBlock, withFalseNumbers } from "./ambiguity-cases.ts";
import { type Change, type Hunk, oldLines } from "./change.ts";
import { type CaseMaker, type DraftedCase, mapOps } from "./draft.ts";
import { type EditFormat, editFormats } from "./edit-case.ts";
import { exactPlaces, type Fold, isInformative, placesOf } from "./oracle.ts";
import { requestOf } from "./render.ts";
import type { SeededRandom } from "./seeded-random.ts";
import { withBefore } from "./space-corruptions.ts";
import { isBlank, writeLines } from "./text-lines.ts";
import { twinOf } from "./twin.ts";
import { curlyQuotes } from "./unicode-corruptions.ts";

type Spelling = (line: string) => string;

interface NearKind {
  readonly name: string;
  /** Spelling of the copy, and of the edit. */
  readonly copy: Spelling;
  readonly edit: Spelling;
  /** The reading that finds only the true block; absent if the edit must be refused. */
  readonly found?: Fold;
}

const same: Spelling = (line) => line;
const deeper: Spelling = (line) => (line.startsWith("\t") ? `\t${line}` : `    ${line}`);
const deepest: Spelling = (line) => deeper(deeper(line));
const spaced: Spelling = (line) => line.replace(/(?<=\S) (?=\S)/g, "  ");
const wide: Spelling = (line) => line.replace(/(?<=\S) (?=\S)/g, "   ");

const kinds: readonly NearKind[] = [
  { name: "exact-beats-deeper-twin", copy: deeper, edit: same, found: "exact" },
  { name: "exact-beats-trailing-twin", copy: (line) => `${line}  `, edit: same, found: "exact" },
  { name: "exact-beats-curly-twin", copy: curlyQuotes, edit: same, found: "exact" },
  { name: "trailing-beats-deeper-twin", copy: deeper, edit: (line) => `${line}  `, found: "trailing" },
  { name: "unicode-beats-deeper-twin", copy: deeper, edit: curlyQuotes, found: "unicode" },
  { name: "ambiguous-at-two-depths", copy: deeper, edit: deepest },
  { name: "ambiguous-trailing-spellings", copy: (line) => `${line} `, edit: (line) => `${line}\t` },
  { name: "ambiguous-inner-spellings", copy: spaced, edit: wide },
  {
    name: "ambiguous-quote-spellings",
    copy: curlyQuotes,
    edit: (line) => line.replaceAll('"', "\u201F").replaceAll("'", "\u201B"),
  },
];

function nearTwin({ name, copy, edit, found }: NearKind): CaseMaker {
  const make = (original: Change, format: EditFormat, random: SeededRandom): DraftedCase | undefined => {
    const twin = twinOf(original, random);
    const plain = twin && insideBlock(twin, format, random);
    if (twin === undefined || plain === undefined || !isInformative(plain)) return undefined;
    const change = withCopy(twin.change, plain, copy);
    const spelt = ({ kind, text }: Hunk["ops"][number]): string =>
      isBlank(text) || (kind === "+" && found !== undefined) ? text : edit(text);
    const [hunk] = mapOps([plain], spelt);
    if (change === undefined || hunk === undefined || !isAsSaid(change, hunk, { format, found }))
      return undefined;
    const request = withFalseNumbers(requestOf(change, [hunk], { format }), change, random);
    const content = writeLines(change.after, change.style);
    return { request, expect: found === undefined ? { refuse: true } : { content } };
  };
  return { name, formats: editFormats, make };
}

interface Said {
  readonly format: EditFormat;
  readonly found: Fold | undefined;
}

/** Stricter readings find nothing and the stated one only the true block; or no reading finds exactly one. */
function isAsSaid(change: Change, hunk: Hunk, { format, found }: Said): boolean {
  const old = oldLines(hunk);
  const exact = exactPlaces(change.before, old, format);
  const counts = (["exact", "trailing", "unicode"] as const).map((fold) =>
    placesOf(change.before, old, fold),
  );
  if (found === "exact") return exact === 1 && counts[0] === 1;
  if (found === undefined) return exact === 0 && counts[0] === 0 && !counts.includes(1);
  return exact === 0 && counts[0] === 0 && placesOf(change.before, old, found) === 1;
}

/** Respells the twin's lines; none unless there is exactly one twin and its spelling changes. */
function withCopy(change: Change, hunk: Hunk, spelling: Spelling): Change | undefined {
  const starts = candidateStarts(change, hunk);
  const copy = starts.find((start) => start !== hunk.start);
  if (starts.length !== 2 || copy === undefined) return undefined;
  const end = copy + oldLines(hunk).length;
  const isCopied = (line: string, index: number): boolean => index >= copy && index < end && !isBlank(line);
  const before = change.before.map((line, index) => (isCopied(line, index) ? spelling(line) : line));
  return before.join("\n") === change.before.join("\n") ? undefined : withBefore(change, before);
}

export const nearTwinMakers: readonly CaseMaker[] = kinds.map(nearTwin);
