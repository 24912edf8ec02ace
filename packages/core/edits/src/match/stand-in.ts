/** Detects lines that stand for code a model omitted. */

const comment = /^(?:\/\/+|#+|--+|;+|%+|<!--|\/\*+|\{\/\*|\(\*|"""|''')/;
const commentEnd = /(?:\*+\/\}?|-->|\*\)|"""|''')$/;
/** A comment after code on its line. */
const behindCode = /\S\s+(\/\/|\/\*|#|--)\s*([^"'`]*)$/;
const onlyDots = /^[[(]?\s*(?:\.{3,}|…)\s*[\])]?$/;
/** Longer lines have meaning of their own. */
const maxChars = 100;

/** Words that mean that something is unchanged or omitted. */
const keys = new Set(
  "rest remain remains remaining remainder existing unchanged same omitted previous original other others elided truncated snip snipped unmodified untouched unaltered skipped skip more etc brevity intact keep kept similar change changes on".split(
    " ",
  ),
);
/** Other words of such a line. */
const fillers = new Set(
  "the of is are as and all any so in for to at it its this that these your my our here there above below before after with without no not code file function functions method methods class classes module component implementation logic content contents body block section part lines line everything else stay stays left goes continue continues like imports import definitions handlers cases statements needed".split(
    " ",
  ),
);

/**
 * How surely a line stands for others. `dots`: only dots; `marked`: dots before such words; `said`: words
 * alone, which may be a real comment if nothing is removed.
 */
export type StandIn = "dots" | "marked" | "said";

/** Undefined for a literal line. */
export function standInOf(line: string): (StandIn & string) | undefined {
  const { text } = inside(line);
  if (text.length > maxChars) return undefined;
  if (onlyDots.test(text)) return "dots";
  if (isMarked(text)) return "marked";
  return isComment(line) && isSaid(text) ? "said" : undefined;
}

export function isComment(line: string): boolean {
  return comment.test(line.trim());
}

/** A comment after code, as if it were on a separate line. */
export function commentBehind(line: string): string | undefined {
  if (isComment(line) || line.length > 1_000) return undefined;
  const [, sign, text] = behindCode.exec(line) ?? [];
  return sign === undefined ? undefined : `${sign} ${text}`;
}

/** Dots, a space, and at most two other words: `...rest` is code. */
function isMarked(text: string): boolean {
  const found =
    /^[[({<]?\s*(?:\.{2,}|…)\s+(.*)$/.exec(text) ?? /^[[({<]?\s*(?:\.{2,}|…)([[({<].*)$/.exec(text);
  const words = wordsOf(found?.[1] ?? wrapped(text) ?? "");
  const strange = words.filter((word) => !isKnown(word)).length;
  return words.length <= 12 && strange <= 2 && words.some((word) => keys.has(word));
}

/** The words inside brackets. */
function wrapped(text: string): string | undefined {
  const words = /^[[({<](.*)[\])}>]$/.exec(text)?.[1];
  return words !== undefined && isSaid(words) ? words : undefined;
}

function isSaid(text: string): boolean {
  const words = wordsOf(text);
  return words.length >= 2 && words.every(isKnown) && words.some((word) => keys.has(word));
}

function wordsOf(text: string): readonly string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}']+/gu) ?? [];
}

function isKnown(word: string): boolean {
  return keys.has(word) || fillers.has(word) || /^\d+$/.test(word);
}

function inside(line: string): { readonly text: string } {
  const trimmed = line.trim();
  if (trimmed.length > 10 * maxChars) return { text: trimmed };
  return { text: trimmed.replace(comment, "").replace(commentEnd, "").trim() };
}
