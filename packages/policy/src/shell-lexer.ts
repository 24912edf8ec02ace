/** Reads one word of shell text: quotes, escapes, expansions and the scripts nested in them. */
import { escapeGlob } from "./shell-glob.ts";

export interface Word {
  /** The value after quotes are removed; expansions stand as written. */
  readonly text: string;
  /** Whether the shell takes the text as it is, with nothing left to expand but file globs. */
  readonly isLiteral: boolean;
  /** The text as a glob: a quoted character stands escaped, so that only what the shell expands is left. */
  readonly glob: string;
  /** As written. */
  readonly raw: string;
}

export interface Heredoc {
  readonly end: string;
  readonly isIndented: boolean;
  /** Whether its delimiter was quoted, so that nothing in it expands. */
  readonly isRaw: boolean;
  /** Where its text goes. */
  readonly heredocs: string[];
}

/** Where reading stands, and what was found on the way. */
export interface Cursor {
  readonly text: string;
  at: number;
  readonly nested: string[];
  readonly pending: Heredoc[];
  isWhole: boolean;
  /** How many expansions the text stands in. */
  readonly depth: number;
}

/** A word while it is being read. */
interface Draft {
  text: string;
  glob: string;
  isLiteral: boolean;
}

const deepest = 20;
const blank = /(?:[ \t\r]|\\\n)+/y;
const wordEnd = /[\s;&|<>()]/u;

export function skipBlank(cursor: Cursor): boolean {
  blank.lastIndex = cursor.at;
  if (!blank.test(cursor.text)) return false;
  cursor.at = blank.lastIndex;
  return true;
}

export function skipComment(cursor: Cursor): boolean {
  if (cursor.text[cursor.at] !== "#") return false;
  const end = cursor.text.indexOf("\n", cursor.at);
  cursor.at = end < 0 ? cursor.text.length : end;
  return true;
}

export function readWord(cursor: Cursor): Word {
  const from = cursor.at;
  const draft = emptyDraft();
  while (cursor.at < cursor.text.length) {
    const char = cursor.text[cursor.at] ?? "";
    const isSubstitution = (char === "<" || char === ">") && cursor.text[cursor.at + 1] === "(";
    if (wordEnd.test(char) && !isSubstitution) break;
    readPiece(cursor, draft);
  }
  // Always forward: a character no rule takes is taken as it is.
  if (cursor.at === from) add(draft, cursor.text[cursor.at++] ?? "");
  return { ...draft, raw: cursor.text.slice(from, cursor.at) };
}

function emptyDraft(): Draft {
  return { text: "", glob: "", isLiteral: true };
}

function add(draft: Draft, text: string): void {
  draft.text += text;
  draft.glob += escapeGlob(text);
}

/** The text of a here-document that begins at the cursor. */
export function readHeredoc(cursor: Cursor, { end, isIndented, isRaw }: Heredoc): string {
  const lines: string[] = [];
  let isEnded = false;
  while (!isEnded && cursor.at < cursor.text.length) {
    const line = readLine(cursor);
    isEnded = (isIndented ? line.replace(/^\t+/u, "") : line) === end;
    if (!isEnded) lines.push(line);
  }
  const body = lines.join("\n");
  if (!isEnded) cursor.isWhole = false;
  if (!isRaw) collectNested(body, cursor);
  return body;
}

function readLine(cursor: Cursor): string {
  const end = cursor.text.indexOf("\n", cursor.at);
  const stop = end < 0 ? cursor.text.length : end;
  const line = cursor.text.slice(cursor.at, stop);
  cursor.at = stop + 1;
  return line;
}

function readPiece(cursor: Cursor, draft: Draft): void {
  const char = cursor.text[cursor.at] ?? "";
  const next = cursor.text[cursor.at + 1];
  if (char === "\\") {
    if (next !== "\n") add(draft, next ?? "");
    cursor.at += 2;
  } else if (char === "'") readRaw(cursor, draft);
  else if (char === '"') readQuoted(cursor, draft);
  else if (char === "$" && (next === "'" || next === '"')) {
    if (next === "'") draft.isLiteral = false;
    cursor.at++;
  } else if (char === "<" || char === ">") readBracketed(cursor, draft, 2);
  else if (!readExpansion(cursor, draft)) {
    draft.text += char;
    draft.glob += char;
    cursor.at++;
  }
}

function readRaw(cursor: Cursor, draft: Draft): void {
  const end = cursor.text.indexOf("'", cursor.at + 1);
  if (end < 0) cursor.isWhole = false;
  const stop = end < 0 ? cursor.text.length : end;
  add(draft, cursor.text.slice(cursor.at + 1, stop));
  cursor.at = stop + 1;
}

function readQuoted(cursor: Cursor, draft: Draft): void {
  cursor.at++;
  while (cursor.at < cursor.text.length) {
    const char = cursor.text[cursor.at] ?? "";
    if (char === '"') {
      cursor.at++;
      return;
    }
    if (char === "\\") {
      const next = cursor.text[cursor.at + 1] ?? "";
      add(draft, '"\\$`\n'.includes(next) ? next.replace("\n", "") : char + next);
      cursor.at += 2;
    } else if (!readExpansion(cursor, draft)) {
      add(draft, char);
      cursor.at++;
    }
  }
  cursor.isWhole = false;
}

function readExpansion(cursor: Cursor, draft: Draft): boolean {
  const rest = cursor.text.slice(cursor.at, cursor.at + 3);
  if (rest.startsWith("`")) return readBackticks(cursor, draft);
  if (rest.startsWith("$((")) return readBracketed(cursor, draft, 3);
  if (rest.startsWith("$(")) return readBracketed(cursor, draft, 2);
  if (rest.startsWith("${")) return readBraces(cursor, draft);
  if (!/^\$[\w@*#?!$-]/u.test(rest)) return false;
  draft.isLiteral = false;
  add(draft, "$");
  cursor.at++;
  return true;
}

function readBackticks(cursor: Cursor, draft: Draft): boolean {
  const from = cursor.at;
  let end = from + 1;
  while (end < cursor.text.length && cursor.text[end] !== "`") end += cursor.text[end] === "\\" ? 2 : 1;
  if (end >= cursor.text.length) cursor.isWhole = false;
  cursor.nested.push(cursor.text.slice(from + 1, end).replace(/\\([`$\\])/gu, "$1"));
  return finish(cursor, draft, end + 1);
}

/** `$(...)`, `<(...)` and `$((...))`: up to the bracket that closes it, with quotes inside respected. */
function readBracketed(cursor: Cursor, draft: Draft, opening: number): boolean {
  const from = cursor.at + opening;
  const end = closing(cursor, from, "()");
  // Arithmetic is read as a script too: a subshell looks the same, and the words in it do no harm.
  cursor.nested.push(cursor.text.slice(from, end));
  return finish(cursor, draft, Math.min(end + opening - 1, cursor.text.length));
}

function readBraces(cursor: Cursor, draft: Draft): boolean {
  const from = cursor.at + 2;
  const end = closing(cursor, from, "{}");
  collectNested(cursor.text.slice(from, end), cursor);
  return finish(cursor, draft, end + 1);
}

function finish(cursor: Cursor, draft: Draft, end: number): true {
  add(draft, cursor.text.slice(cursor.at, end));
  draft.isLiteral = false;
  cursor.at = end;
  return true;
}

/** Where the pair that is open at `from` closes. */
function closing(cursor: Cursor, from: number, pair: string): number {
  const { text } = cursor;
  let open = 1;
  for (let at = from; at < text.length; at++) {
    const char = text[at] ?? "";
    if (char === "\\") at++;
    else if (char === "'" || char === '"' || char === "`") at = quoteEnd(text, at);
    else if (char === pair[0]) open++;
    else if (char === pair[1] && --open === 0) return at;
  }
  cursor.isWhole = false;
  return text.length;
}

function quoteEnd(text: string, from: number): number {
  const quote = text[from];
  for (let at = from + 1; at < text.length; at++) {
    if (text[at] === "\\" && quote !== "'") at++;
    else if (text[at] === quote) return at;
  }
  return text.length;
}

function collectNested(text: string, cursor: Cursor): void {
  const depth = cursor.depth + 1;
  if (depth > deepest) {
    cursor.isWhole = false;
    return;
  }
  const inner: Cursor = { text, at: 0, nested: cursor.nested, pending: [], isWhole: true, depth };
  const draft = emptyDraft();
  while (inner.at < text.length)
    if (!readExpansion(inner, draft)) inner.at += text[inner.at] === "\\" ? 2 : 1;
}
