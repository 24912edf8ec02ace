/** The lines of a `.gitignore`, as gitignore(5) defines them; no line takes long to match. */

export interface IgnorePattern {
  /** It re-includes what earlier lines ignore. */
  readonly isNegative: boolean;
  /** Matches the name alone, else the path relative to the `.gitignore`. */
  readonly isName: boolean;
  /** Matches folders only. */
  readonly isFolder: boolean;
  readonly matches: (text: string) => boolean;
}

/** Longer patterns with wildcards match nothing: time and memory are text times pattern. */
const maxTokens = 256;

/**
 * The last line first, so that the first match decides. `text` and all matched paths have one character per
 * byte.
 */
export function parsePatterns(text: string, ignoresCase: boolean): readonly IgnorePattern[] {
  return text
    .replace(/^\u00ef\u00bb\u00bf/, "")
    .split("\n")
    .flatMap((line) => parseLine(line, ignoresCase) ?? [])
    .reverse();
}

function parseLine(line: string, ignoresCase: boolean): IgnorePattern | undefined {
  if (line === "" || line.startsWith("#")) return undefined;
  const trimmed = withoutSpaces(line.endsWith("\r") ? line.slice(0, -1) : line);
  const isNegative = trimmed.startsWith("!");
  const pattern = trimmed.slice(isNegative ? 1 : 0).replace(/\/$/, "");
  if (pattern === "") return undefined;
  const matches = matcher(pattern.replace(/^\//, ""), ignoresCase);
  return { isNegative, isName: !pattern.includes("/"), isFolder: trimmed.endsWith("/"), matches };
}

/** Trailing spaces are ignored, unless a backslash precedes them. */
function withoutSpaces(line: string): string {
  let end = line.length;
  while (line[end - 1] === " " && !isEscaped(line, end - 1)) end--;
  return line.slice(0, end);
}

function isEscaped(line: string, at: number): boolean {
  let slashes = 0;
  while (line[at - 1 - slashes] === "\\") slashes++;
  return slashes % 2 === 1;
}

function matcher(pattern: string, ignoresCase: boolean): (text: string) => boolean {
  const folded = (text: string): string => (ignoresCase ? lower(text) : text);
  const wanted = folded(pattern);
  const literal = literalLength(pattern);
  if (literal === pattern.length) return (text) => folded(text) === wanted;
  const tokens = parseTokens({ text: pattern, literal, ignoresCase });
  return tokens && tokens.length <= maxTokens ? (text) => matchTokens(tokens, text) : () => false;
}

function lower(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

/** The length of the beginning without special characters. */
function literalLength(pattern: string): number {
  const found = pattern.search(/[*?[\\]/);
  return found < 0 ? pattern.length : found;
}

/**
 * `set`: by character code; `star`: anything but slashes; `deep`: anything; `folders`: nothing, or anything
 * up to a slash.
 */
type Token = { readonly type: "set"; readonly set: Uint8Array } | { readonly type: Wild };
type Wild = "star" | "deep" | "folders";

const slash = 0x2f;

interface Source {
  readonly text: string;
  /** The rest is, as in git, a separate pattern. */
  readonly literal: number;
  readonly ignoresCase: boolean;
}

/** Undefined for a pattern that matches nothing. */
function parseTokens(source: Source): readonly Token[] | undefined {
  const tokens: Token[] = [];
  for (let at = 0; at < source.text.length; ) {
    const part = parsePart(source, at);
    if (!part) return undefined;
    tokens.push(part.token);
    at = part.end;
  }
  return tokens;
}

interface Part {
  readonly token: Token;
  readonly end: number;
}

function parsePart(source: Source, at: number): Part | undefined {
  const { text } = source;
  switch (text[at]) {
    case "*":
      return parseStars(source, at);
    case "?":
      return { token: { type: "set", set: noSlash(new Uint8Array(256).fill(1)) }, end: at + 1 };
    case "[":
      return parseClass(source, at + 1);
    case "\\":
      return at + 1 < text.length ? { token: charToken(source, at + 1), end: at + 2 } : undefined;
    default:
      return { token: charToken(source, at), end: at + 1 };
  }
}

function parseStars({ text, literal }: Source, at: number): Part {
  let end = at;
  while (text[end] === "*") end++;
  const isWhole = at === literal || text[at - 1] === "/";
  const rest = text.slice(end, end + 2);
  const isDeep = end - at > 1 && isWhole && (rest === "" || rest[0] === "/" || rest === "\\/");
  if (!isDeep) return { token: { type: "star" }, end };
  return rest[0] === "/" ? { token: { type: "folders" }, end: end + 1 } : { token: { type: "deep" }, end };
}

function charToken({ text, ignoresCase }: Source, at: number): Token {
  const set = new Uint8Array(256);
  set[text.charCodeAt(at) & 0xff] = 1;
  return { type: "set", set: ignoresCase ? bothCases(set) : set };
}

function noSlash(set: Uint8Array): Uint8Array {
  set[slash] = 0;
  return set;
}

type Range = readonly [from: number, to: number];

const letters: readonly Range[] = [
  [0x41, 0x5a],
  [0x61, 0x7a],
];
const digits: Range = [0x30, 0x39];
const punctuation: readonly Range[] = [
  [0x21, 0x2f],
  [0x3a, 0x40],
  [0x5b, 0x60],
  [0x7b, 0x7e],
];

const classes: Readonly<Record<string, readonly Range[]>> = {
  alnum: [...letters, digits],
  alpha: letters,
  blank: [
    [0x20, 0x20],
    [0x09, 0x09],
  ],
  cntrl: [
    [0x00, 0x1f],
    [0x7f, 0x7f],
  ],
  digit: [digits],
  graph: [[0x21, 0x7e]],
  lower: [[0x61, 0x7a]],
  print: [[0x20, 0x7e]],
  punct: punctuation,
  space: [
    [0x20, 0x20],
    [0x09, 0x0a],
    [0x0d, 0x0d],
  ],
  upper: [[0x41, 0x5a]],
  xdigit: [digits, [0x41, 0x46], [0x61, 0x66]],
};

/** `start`: after the bracket. */
function parseClass({ text, ignoresCase }: Source, start: number): Part | undefined {
  const isNegated = text[start] === "!" || text[start] === "^";
  let set = new Uint8Array(256);
  let at = start + (isNegated ? 1 : 0);
  let before: number | undefined;
  do {
    const item = parseItem(text, at, before);
    if (!item) return undefined;
    for (const [from, to] of item.ranges) if (from <= to) set.fill(1, from, to + 1);
    before = item.last;
    at = item.end;
  } while (text[at] !== "]");
  if (ignoresCase) set = bothCases(set);
  return { token: { type: "set", set: noSlash(isNegated ? set.map((one) => 1 - one) : set) }, end: at + 1 };
}

interface Item {
  readonly ranges: readonly Range[];
  /** The possible first character of a range. */
  readonly last?: number;
  readonly end: number;
}

function parseItem(text: string, at: number, before: number | undefined): Item | undefined {
  const char = text[at];
  if (char === undefined) return undefined;
  const named = char === "[" && text[at + 1] === ":" ? parseNamed(text, at) : "none";
  if (named !== "none") return named;
  const next = text[at + 1];
  if (char === "-" && before !== undefined && next !== undefined && next !== "]") {
    const end = next === "\\" ? at + 2 : at + 1;
    return end < text.length ? { ranges: [[before, text.charCodeAt(end)]], end: end + 1 } : undefined;
  }
  const own = char === "\\" ? at + 1 : at;
  if (own >= text.length) return undefined;
  const code = text.charCodeAt(own);
  return { ranges: [[code, code]], last: code, end: own + 1 };
}

function parseNamed(text: string, at: number): Item | undefined | "none" {
  const close = text.indexOf("]", at + 2);
  if (close < 0) return undefined;
  if (close === at + 2 || text[close - 1] !== ":") return "none";
  const ranges = classes[text.slice(at + 2, close - 1)];
  return ranges && { ranges, end: close + 1 };
}

function bothCases(set: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(set);
  for (let code = 0x41; code <= 0x5a; code++) {
    const either = (set[code] ?? 0) | (set[code + 32] ?? 0);
    both[code] = either;
    both[code + 32] = either;
  }
  return both;
}

/** Reads the text once and tracks all positions in the pattern that it may be at. */
function matchTokens(tokens: readonly Token[], text: string): boolean {
  let now = new Uint8Array(tokens.length + 1);
  arrive(tokens, now, 0);
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i) & 0xff;
    const next = new Uint8Array(tokens.length + 1);
    for (const [at, token] of tokens.entries()) if (now[at] === 1) step(tokens, { at, token, code }, next);
    now = next;
  }
  return now[tokens.length] === 1;
}

/** Skips tokens that may match nothing. */
function arrive(tokens: readonly Token[], places: Uint8Array, at: number): void {
  places[at] = 1;
  const token = tokens[at];
  if (token && token.type !== "set") arrive(tokens, places, at + 1);
}

interface Move {
  readonly at: number;
  readonly token: Token;
  readonly code: number;
}

function step(tokens: readonly Token[], { at, token, code }: Move, next: Uint8Array): void {
  switch (token.type) {
    case "set":
      if (token.set[code] === 1) arrive(tokens, next, at + 1);
      return;
    case "star":
      if (code !== slash) arrive(tokens, next, at);
      return;
    case "deep":
      arrive(tokens, next, at);
      return;
    case "folders":
      next[at] = 1;
      if (code === slash) arrive(tokens, next, at + 1);
  }
}
