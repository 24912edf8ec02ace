/** Lines that stand for others: paired in old and new they keep what is between, alone in new they would destroy it. */
import type { Hunk } from "../hunk.ts";

const comment =
  /^(?:\/\/+|#+|--+|;+|%+|<!--|\/\*+|\{\/\*|\(\*|"""|''')?\s*(.*?)\s*(?:\*+\/\}?|-->|\*\)|"""|''')?$/;
const dots = /^(?:\.{3,}|…|\[\s*(?:\.{3,}|…)\s*\]|\(\s*(?:\.{3,}|…)\s*\))$/;
/** What a person means by dots before these words, or behind them. */
const standsFirst =
  /^(?:(?:and|with|keep|all|the|your|my|some|any|of) )*(?:rest|remain(?:ing|der)?|existing|unchanged|previous|same|omitted|other|original|snip(?:ped)?|no changes?|unmodified|skipped|truncated|elided|more|code|content|implementation|logic)\b/i;
const standsLast =
  /\b(?:unchanged|omitted|the same|as (?:before|above|is)|elided|truncated|snipped|unmodified|goes here|stays?|remains?)$/i;
const standsAnywhere = /^(?:the )?(?:rest of|remaining|existing|unchanged|unmodified|omitted)\b/i;
const phrase =
  /^(?:(?:the )?rest of (?:the |your |this )?[\w ]*(?:code|file|function|method|class|content|implementation|logic|body|module|component)s?\b.*|(?:the )?(?:existing|remaining|previous|original|unchanged) (?:code|content|implementation|logic|methods?|functions?|lines?)(?: (?:here|remains?(?: (?:unchanged|the same))?|unchanged|stays?(?: the same)?|goes here|continues?|above|below))?|(?:code|content|everything else|all else) (?:remains?|stays?|is) (?:unchanged|the same|as is)|(?:no|without) changes? (?:here|below|above|needed)|(?:unchanged|same as (?:before|above|original)|keep (?:the )?(?:existing|rest|same)\b.*))\.?$/i;

/** A line that is nothing but a sign for left-out lines. */
function isElision(line: string): boolean {
  const { text, isComment } = inside(line);
  return dots.test(text) || (isComment && standsForCode(text));
}

/** A line that says code was left out; a lone `...` is real in some languages, and in prose. */
export function isPlaceholder(line: string, path: string): boolean {
  const { text, isComment } = inside(line);
  if (dots.test(text)) return isComment ? !isProse(path) : !hasBareDots(path);
  if (standsForCode(text)) return isComment || /^[.…[(]/.test(text);
  return isComment && phrase.test(text);
}

function standsForCode(text: string): boolean {
  if (text.length > 100) return false;
  const isLed = /^[[(]?(?:\.{3,}|…)/.test(text);
  const isTrailed = /(?:\.{3,}|…)[\])]?$/.test(text);
  const words = text.replaceAll(/^[[(]?(?:\.{3,}|…)?\s*|\s*(?:\.{3,}|…)?[\])]?$/g, "");
  const isWrapped = /^(?:\[.*\]|\(.*\))$/.test(text);
  if (isWrapped && (standsAnywhere.test(words) || phrase.test(words))) return true;
  if (isLed && (standsFirst.test(words) || standsLast.test(words))) return true;
  return isTrailed && (standsAnywhere.test(words) || standsLast.test(words));
}

function inside(line: string): { readonly text: string; readonly isComment: boolean } {
  const trimmed = line.trim();
  const text = comment.exec(trimmed)?.[1] ?? trimmed;
  return { text, isComment: text !== trimmed };
}

function isProse(path: string): boolean {
  return /\.(?:md|mdx|markdown|rst|txt|adoc)$/i.test(path);
}

function hasBareDots(path: string): boolean {
  return isProse(path) || /\.(?:pyi?|ya?ml|jl|r|diff|patch|snap|out|log|tmpl)$/i.test(path);
}

/** The pieces around paired elisions, undefined when old and new do not have the same number of them. */
export function piecesOf(hunk: Hunk): readonly Hunk[] | undefined {
  const old = splitAt(hunk.old);
  const fresh = splitAt(hunk.new);
  if (old.length < 2 || old.length !== fresh.length) return undefined;
  const pieces = old.map((lines, i) => ({
    ...hunk,
    unit: "lines" as const,
    old: lines,
    new: fresh[i] ?? [],
  }));
  if (pieces.some((piece) => piece.old.length === 0 && piece.new.length > 0)) return undefined;
  const solid = pieces.filter((piece) => piece.old.length > 0);
  return solid.length > 0 ? solid : undefined;
}

function splitAt(lines: readonly string[]): readonly (readonly string[])[] {
  const pieces: string[][] = [[]];
  for (const line of lines) {
    if (isElision(line)) pieces.push([]);
    else pieces.at(-1)?.push(line);
  }
  return pieces.map(withoutOuterBlanks);
}

function withoutOuterBlanks(lines: readonly string[]): readonly string[] {
  const first = lines.findIndex((line) => line.trim() !== "");
  const last = lines.findLastIndex((line) => line.trim() !== "");
  return first < 0 ? [] : lines.slice(first, last + 1);
}
