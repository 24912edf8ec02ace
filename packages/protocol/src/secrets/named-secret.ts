/** Named secrets: values that a name gives away, as in `password = "..."`, where the value looks random enough. */
import { entropy, isPlaceholder } from "./secret-rule.ts";

/** A name and what follows it up to the value; bounded everywhere. */
export const namedAnchor =
  "(?:pass(?:word|wd|phrase|(?=[\"'`]?\\]?[ \\t]{0,8}[:=]))|pwd|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|signing[_-]?key|encryption[_-]?key|credential|authorization)";

/** `:` or `=` with what languages put around them, then the value in quotes, or bare to the end of the line or word. */
const assigned =
  /(?<suffix>[\w-]{0,40})(?:\\?["'`])?\]?[ \t]{0,8}(?<operator>:[ \t]{0,4}[\w<>|]{1,40}[ \t]{0,4}=|=>|[:=]=?|,)[ \t]{0,8}(?:\\?(?<quote>["'`])(?:(?:Basic|Token|ApiKey|Bearer) )?(?<quoted>[^\s"'`\\]{8,512})\\?\k<quote>|(?<bare>[^\s"'`,;&(){}[\]<>|\\]{12,512})(?=$|[\s,;&"'`\\]))/iy;

/**
 * A line of a file of settings, or a variable before a command: in capitals without spaces, or alone on its line, no
 * language writes an expression, so that whatever stands there up to the space is the value.
 */
const set =
  /(?<suffix>\w{0,40})(?<operator>=|:[ \t]{1,4})(?<value>[^\s"'`,;<>{}[\]\\|][^\s"'`;<>{}[\]\\|]{7,511})(?=$|[ \t\r])/my;
const capitals = /(?:^|\s)[A-Z\d_]{1,60}$/;
/** What test runners say of a test. */
const passed = /(?:^|[^\w.-])pass$/i;
const alone = /(?:^|\n)[ \t-]{0,40}[\w.-]{1,60}$/;

/** Names that speak of a secret without being one. */
const about =
  /(?:id|url|uri|name|path|file|type|count|length|limit|field|label|hash|regexp?|pattern|header|endpoint|expir\w*|ttl|pos|start|end|index|kind|prefix|suffix|size|error|message|hint|text|title|rule|policy|provider|format|class|selector|scope|s?[-_]?env|address|algorithm|issuer|audience|budget|cost)$/i;

export interface Found {
  readonly start: number;
  readonly end: number;
}

/** `from`: right behind the name. */
export function namedSecret(text: string, from: number): Found | undefined {
  return assignedSecret(text, from) ?? setSecret(text, from);
}

function setSecret(text: string, from: number): Found | undefined {
  set.lastIndex = from;
  const match = set.exec(text);
  const { suffix = "", operator, value = "" } = match?.groups ?? {};
  if (!match || about.test(suffix)) return undefined;
  if (operator !== "=" && passed.test(text.slice(Math.max(0, from - 5), from))) return undefined;
  const end = from + match[0].length;
  const name = text.slice(Math.max(0, from - 102), from) + suffix;
  const isSetting = capitals.test(name) ? isRandomSetting(value) : isMarked(value);
  if (!isSetting || !(capitals.test(name) || (alone.test(name) && isLineEnd(text, end)))) return undefined;
  return { start: end - value.length, end };
}

function isLineEnd(text: string, at: number): boolean {
  return /^[ \t]{0,40}(?:\r?\n|$)/.test(text.slice(at, at + 44));
}

function assignedSecret(text: string, from: number): Found | undefined {
  assigned.lastIndex = from;
  const match = assigned.exec(text);
  if (!match?.groups) return undefined;
  const { suffix = "", operator, quoted, bare, quote } = match.groups;
  if (about.test(suffix) || (operator === "," && suffix !== "")) return undefined;
  // Behind a comma only a string can be meant: `setSecret("token", "...")`.
  const value = quoted ?? (operator === "," ? undefined : bare);
  if (value === undefined || !(quoted === undefined ? isRandomBare(value) : isRandomQuoted(value)))
    return undefined;
  const tail = quoted === undefined || quote === undefined ? 0 : match[0].endsWith(`\\${quote}`) ? 2 : 1;
  const end = from + match[0].length - tail;
  return { start: end - value.length, end };
}

function isRandomSetting(value: string): boolean {
  return isMixed(value) && !isPlaceholder(value) && !isPlainText(value) && entropy(value) >= 2.75;
}

/** A name of something else has no such signs between its letters, nor ends with one that goes on. */
function isMarked(value: string): boolean {
  return (
    /\w[!@#^~%*?+&$=]+\w/.test(value) && !/\w\.\w|[!=]=|[.,;:&|=]$/.test(value) && isRandomSetting(value)
  );
}

/** Between quotes; also what stands alone in a sentence, as far as it is no name there. */
export function isRandomQuoted(value: string): boolean {
  if (isOfManyMarks(value)) return true;
  if (isPlaceholder(value)) return false;
  if (isKeyShaped(value)) return true;
  if (isPlainText(value)) return false;
  return isMixed(value) && entropy(value) >= (value.length < 20 ? 2.75 : 3.2);
}

/** Letters and digits, or letters of both cases and signs that no name has. */
function isMixed(value: string): boolean {
  if (!/[A-Za-z]/.test(value)) return false;
  return /\d/.test(value) || (/[^A-Za-z0-9_.:/-]/.test(value) && /[A-Z]/.test(value));
}

/** Without quotes it may as well be an expression: only what no language calls a name. */
function isRandomBare(value: string): boolean {
  if (isPlaceholder(value)) return false;
  if (isKeyShaped(value)) return true;
  if (isPlainText(value)) return false;
  return (
    /^[\w+/=~.-]+$/.test(value) &&
    /\d/.test(value) &&
    /[A-Za-z]/.test(value) &&
    !/\w\.\w/.test(value) &&
    entropy(value) >= 3.3
  );
}

/** Digits of a length that only keys have; by chance they look like words or paths, or repeat themselves a little. */
function isKeyShaped(value: string): boolean {
  if (/^[0-9a-f]{32,}$/i.test(value))
    return /\d/.test(value) && /[a-f]/i.test(value) && entropy(value) >= 2.9;
  const hasAllKinds = /\d/.test(value) && /[a-z]/.test(value) && /[A-Z]/.test(value);
  return (
    /^[\w+/-]{40,}={0,2}$/.test(value) && hasAllKinds && !isIdentifier(value, 3.6) && entropy(value) >= 4.3
  );
}

/** Keys that frameworks make of letters, digits and whatever else is on a keyboard, brackets too. */
function isOfManyMarks(value: string): boolean {
  if (!/^[\w!@#$%^&*()+=-]{32,}$/.test(value) || !/\d/.test(value)) return false;
  return new Set(value.match(/[!@#$%^&*()+=]/g)).size >= 3 && entropy(value) >= 4;
}

const uuid = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
const words = /^[$#@.]?(?:[A-Za-z]+\d{0,3}|\d{1,4})(?:[-_./: ,+|][A-Za-z]*\d{0,4})*$/;
const otherThings =
  /^(?:[a-z][a-z0-9+.-]*:|\.{0,2}\/|sha\d+-|data:|#[0-9a-f]{3,8}$|\\u|0x[0-9a-f]+$|v?\d+(?:\.\d+)+)|[()]|=>|^\$\w|&\w+=|\?\w+=/i;

/** Identifiers, paths, addresses, versions, digests with their algorithm. */
function isPlainText(value: string): boolean {
  return uuid.test(value) || words.test(value) || otherThings.test(value) || isIdentifier(value);
}

/** `testP256PrivateKey` is made of words; random characters change their kind every other time. */
function isIdentifier(value: string, perWord = 3): boolean {
  if (!/^[\w$]+$/.test(value)) return false;
  const parts = value.match(/[A-Z]*[a-z]+|[A-Z]+|\d+/g) ?? [];
  return value.length / parts.length >= perWord;
}
