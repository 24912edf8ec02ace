/** Character classes: what a bracket or an escape of a regular expression may stand for. */
import { anyFile, type Stretch } from "./plan.ts";
import { ahead, type Reading, stretchOf, UnknownSyntax } from "./reading.ts";

/** Members of a class that are followed one by one. */
const maxMembers = 10;

/** A character, or undefined for one of many. */
type Member = string | undefined;

/** After `[`. Nested classes and operations on them are not read. */
export function readBracket(reading: Reading): Stretch {
  const negated = reading.characters[reading.at] === "^";
  if (negated) reading.at++;
  const members: Member[] = [];
  for (let isFirst = true; ; isFirst = false) {
    const next = reading.characters[reading.at++];
    if (next === undefined) throw new UnknownSyntax();
    if (next === "]" && !isFirst) break;
    members.push(...readMembers(reading, next));
  }
  if (negated || members.length > maxMembers) return anyFile;
  const stretches = members.map((one) => (one === undefined ? anyFile : stretchOf(one, reading.ignoreCase)));
  const texts = stretches.flatMap((one) => ("type" in one ? [] : one));
  return texts.length === members.length && texts.length > 0 ? [...new Set(texts)] : anyFile;
}

function readMembers(reading: Reading, first: string): readonly Member[] {
  const following = reading.characters[reading.at];
  if (first === "[") return readNamed(reading);
  if ("&-~".includes(first) && following === first) throw new UnknownSyntax();
  const from = first === "\\" ? readMemberEscape(reading) : first;
  const isRange =
    reading.characters[reading.at] === "-" &&
    reading.characters[reading.at + 1] !== "]" &&
    from !== undefined;
  if (!isRange) return [from];
  reading.at++;
  const end = reading.characters[reading.at++];
  if (end === undefined || end === "[" || end === "-") throw new UnknownSyntax();
  const to = end === "\\" ? readMemberEscape(reading) : end;
  return to === undefined ? [undefined] : rangeOf(from, to);
}

/** Such as `[:alpha:]`, after its bracket. */
function readNamed(reading: Reading): readonly Member[] {
  const name = /^:\^?[a-z]+:\]/.exec(ahead(reading, 20));
  if (!name) throw new UnknownSyntax();
  reading.at += name[0].length;
  return [undefined];
}

function rangeOf(from: string, to: string): readonly Member[] {
  const [first = 0, last = 0] = [from.codePointAt(0), to.codePointAt(0)];
  if (last < first) throw new UnknownSyntax();
  if (last - first >= maxMembers) return [undefined];
  return Array.from({ length: last - first + 1 }, (_, i) => String.fromCodePoint(first + i));
}

function readMemberEscape(reading: Reading): Member {
  const read = readEscaped(reading);
  if (read.type === "nothing") throw new UnknownSyntax();
  return read.type === "character" ? read.character : undefined;
}

/** After a backslash; undefined for what takes no room. */
export function readEscape(reading: Reading): readonly Stretch[] | undefined {
  const read = readEscaped(reading);
  if (read.type === "nothing") return undefined;
  return [read.type === "character" ? stretchOf(read.character, reading.ignoreCase) : anyFile];
}

type Escape =
  | { readonly type: "nothing" | "many" }
  | { readonly type: "character"; readonly character: string };

const codes = /^(?:x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|[xuU]\{[0-9A-Fa-f]{1,8}\})/;
const properties = /^[pP](?:\{[^{}]{1,80}\}|[A-Z])/;
const controls: Readonly<Record<string, string>> = { a: "\x07", f: "\f", t: "\t", n: "\n", r: "\r" };

/** Only what means the same to both engines that ripgrep has, or leaves more open than either. */
function readEscaped(reading: Reading): Escape {
  const text = ahead(reading, 100);
  const code = codes.exec(text) ?? properties.exec(text);
  if (code) {
    reading.at += [...code[0]].length;
    return "pP".includes(code[0].charAt(0)) ? { type: "many" } : characterOf(code[0]);
  }
  const next = reading.characters[reading.at++] ?? "";
  const control = controls[next];
  if (control !== undefined) return { type: "character", character: control };
  // A boundary of words to one engine, a character to the other; `\v` likewise.
  if (/^[dDsSwWv<>]$/.test(next)) return { type: "many" };
  if (/^[bBAz]$/.test(next) && reading.characters[reading.at] !== "{") return { type: "nothing" };
  if (/^[\x20-\x7e]$/.test(next) && !/[A-Za-z0-9]/.test(next)) return { type: "character", character: next };
  throw new UnknownSyntax();
}

function characterOf(code: string): Escape {
  const value = Number.parseInt(code.replaceAll(/[xuU{}]/g, ""), 16);
  if (value > 0x10ffff) throw new UnknownSyntax();
  return { type: "character", character: String.fromCodePoint(value) };
}
