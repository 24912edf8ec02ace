/** Characters that look alike: the edit is plainer or more typographic than the file. */
import type { Change, Hunk, LineOp } from "./change.ts";
import { oldEnd } from "./change.ts";
import { type Corruption, mapOps } from "./draft.ts";
import { commentLine, isProse } from "./language.ts";
import { plainCharacters } from "./oracle.ts";
import type { SeededRandom } from "./seeded-random.ts";
import { withBefore } from "./space-corruptions.ts";
import { indentOf, isBlank } from "./text-lines.ts";

/** Like a word processor: an opening quote after a space or bracket, else a closing one. */
export function curlyQuotes(text: string): string {
  return text
    .replace(/(^|[\s([{=:,])"/g, "$1\u201C")
    .replaceAll('"', "\u201D")
    .replace(/(^|[\s([{=:,])'/g, "$1\u2018")
    .replaceAll("'", "\u2019");
}

type LineMap = (text: string) => string;

function onOld(hunks: readonly Hunk[], map: LineMap): Hunk[] {
  return mapOps(hunks, ({ kind, text }) => (kind === "+" ? text : map(text)));
}

/** Only on kept lines: the replacement of a removed line must not depend on its own characters. */
function onKept(hunks: readonly Hunk[], map: LineMap): Hunk[] {
  return mapOps(hunks, ({ kind, text }) => (kind === " " ? map(text) : text));
}

const quotes: Corruption = {
  name: "curly-quotes-in-old",
  fold: "unicode",
  context: [1, 3],
  spoilHunks: ({ hunks }) => onOld(hunks, curlyQuotes),
};

/** Added lines too: the code has no such character, so the edit means the plain ones. */
const quotesEverywhere: Corruption = {
  name: "curly-quotes-everywhere",
  fold: "unicode",
  context: [1, 3],
  spoilHunks: ({ hunks, change }) => {
    const plain = [...change.before, ...change.after].every((line) => plainCharacters(line) === line);
    const shown = hunks.every(({ ops }) => ops.some(({ kind, text }) => kind !== "+" && /["']/.test(text)));
    if (!plain || !shown || isProse(change.language)) return undefined;
    return mapOps(hunks, ({ text }) => curlyQuotes(text));
  },
};

const dashes: Corruption = {
  name: "typographic-dashes-in-old",
  fold: "unicode",
  context: [1, 3],
  spoilHunks: ({ hunks, random }) => {
    const dash = random.pick(["\u2010", "\u2011", "\u2013", "\u2014", "\u2212"]);
    return onOld(hunks, (text) => text.replace(/(?<=[\w ])-(?=[\w ])/g, dash));
  },
};

const spaces: Corruption = {
  name: "no-break-spaces-in-old",
  fold: "unicode",
  context: [1, 3],
  spoilHunks: ({ hunks, random }) => {
    const space = random.pick(["\u00A0", "\u202F", "\u2009"]);
    const some = (found: string): string => (random.chance(0.5) ? space : found);
    return onOld(hunks, (text) => text.replace(/(?<=\S) (?=\S)/g, some));
  },
};

const comments = [
  "Café: the user\u2019s \u201Cname\u201D \u2014 at most 10\u00A0000 of them",
  "Größe \u2013 see \u2018Über\u2019 below",
  "na\u00EFve r\u00E9sum\u00E9, \u201Ddeprecated\u201D",
  "it\u2019s \u00ABdone\u00BB \u2014 d\u00E9j\u00E0 vu",
];

/** Puts a comment with such characters into both versions, as a kept line right above or below a hunk. */
export function withComment(change: Change, text: string, random: SeededRandom): Change | undefined {
  const comment = commentLine(change.language, text);
  const [core] = change.cores;
  if (comment === undefined || core === undefined) return undefined;
  const at = random.chance(0.5) ? core.start : oldEnd(core);
  const neighbour = change.before[at] ?? change.before[at - 1] ?? "";
  if (change.language === "makefile" && neighbour.startsWith("\t")) return undefined;
  const before = change.before.toSpliced(at, 0, indentOf(neighbour) + comment);
  const shift = (start: number): number => (start >= at ? start + 1 : start);
  const cores = change.cores.map((one) => ({ ...one, start: shift(one.start) }));
  return withBefore({ ...change, cores }, before);
}

const commented: Corruption["prepare"] = (change, random) =>
  withComment(change, random.pick(comments), random);

const plainer: Corruption = {
  name: "typographic-file-plain-old",
  fold: "unicode",
  context: [1, 3],
  prepare: commented,
  spoilHunks: ({ hunks }) => onKept(hunks, plainCharacters),
};

const decomposedOld: Corruption = {
  name: "decomposed-old",
  fold: "unicode",
  context: [1, 3],
  prepare: commented,
  spoilHunks: ({ hunks }) => onOld(hunks, (text) => text.normalize("NFD")),
};

const decomposedFile: Corruption = {
  name: "decomposed-file",
  fold: "unicode",
  context: [1, 3],
  prepare: (change, random) => withComment(change, random.pick(comments).normalize("NFD"), random),
  spoilHunks: ({ hunks }) => onKept(hunks, (text) => text.normalize("NFC")),
};

/** Non-ASCII text that is the same on both sides must stay unchanged. */
const keptUnicode: Corruption = { name: "clean-unicode", fold: "exact", context: [1, 3], prepare: commented };

/** Characters that some line readers treat as line ends. */
const oddSeparators: Corruption = {
  name: "clean-odd-separators",
  fold: "exact",
  context: [1, 3],
  prepare: (change, random) => {
    const odd = random.pick(["\f", "\v", "\u2028", "\u0085", "\u2029"]);
    return withComment(change, `page${odd}break`, random);
  },
};

/** Escapes in place of the file's characters, and no other escapes. */
const unicodeEscaped: Corruption = {
  name: "unicode-escapes-in-old",
  fold: "exact",
  context: [1, 3],
  orRefuse: true,
  prepare: commented,
  spoilHunks: ({ hunks }) => {
    const lines = hunks.flatMap(({ ops }) => ops.map((op: LineOp) => op.text));
    if (lines.some((line) => line.includes("\\"))) return undefined;
    const escaped = (text: string): string =>
      text.replace(/[^\0-\x7F]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`);
    return mapOps(hunks, ({ text }) => (isBlank(text) ? text : escaped(text)));
  },
};

export const unicodeCorruptions: readonly Corruption[] = [
  quotes,
  quotesEverywhere,
  dashes,
  spaces,
  plainer,
  decomposedOld,
  decomposedFile,
  keptUnicode,
  oddSeparators,
  unicodeEscaped,
];
