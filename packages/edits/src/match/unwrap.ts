/** Takes off what models wrap text in, one wrapping at a time, from old and new together. */
import type { Hunk } from "../hunk.ts";

export interface Unwrapped {
  readonly wrapping: string;
  readonly hunk: Hunk;
}

/** Undefined when the text does not wear this wrapping. */
type Wrapping = readonly [name: string, off: (text: string) => string | undefined];

const entities: Readonly<Record<string, string>> = {
  lt: "<",
  gt: ">",
  amp: "&",
  quot: '"',
  apos: "'",
  "#39": "'",
  "#x27": "'",
  "#34": '"',
  nbsp: "\u00A0",
};

const escapes: Readonly<Record<string, string>> = {
  n: "\n",
  t: "\t",
  r: "\r",
  '"': '"',
  "'": "'",
  "`": "`",
  "/": "/",
  "\\": "\\",
};

/** With and without the space that may follow the sign. */
const numbers = [/^\s*(\d+)(?:\t|→|\s*[|│] |[:.)] |- (?=\s))/, /^\s*(\d+)(?:\t|→|\s*[|│]|[:.)]|-(?=\s))/];
const bareNumber = /^\s*(\d+)\s*[|│:.)→]?\s*$/;

const wrappings: readonly Wrapping[] = [
  ["a code fence", withoutFence],
  ["HTML entities", (text) => text.replaceAll(/&(#?\w+);/g, (all, name) => entities[name] ?? all)],
  ["JSON escapes", withoutEscapes],
  ["escaped quotes", (text) => text.replaceAll(/\\(["'`])/g, "$1")],
  ["doubled backslashes", (text) => text.replaceAll("\\\\", "\\")],
];

/** Every unwrapped form that differs from the hunk. */
export function unwrappings(hunk: Hunk): readonly Unwrapped[] {
  const old = hunk.old.join("\n");
  const fresh = hunk.new.join("\n");
  const numbered = numbers.flatMap((number) => withoutNumbers(hunk, number));
  const others = wrappings.flatMap(([wrapping, off]) => {
    const bare = off(old);
    if (bare === undefined || bare === old) return [];
    const bareNew = off(fresh) ?? fresh;
    const kept = wearsLess(fresh, bareNew, bare) ? fresh : bareNew;
    return [{ wrapping, hunk: { ...hunk, old: bare.split("\n"), new: kept.split("\n") } }];
  });
  return [...numbered, ...others];
}

/** The model wrapped `old` alone: `new` as it stands has more lines of the unwrapped `old`. */
function wearsLess(fresh: string, bareNew: string, bareOld: string): boolean {
  if (fresh === bareNew) return true;
  const old = new Set(bareOld.split("\n"));
  const common = (text: string): number =>
    text.split("\n").filter((line) => line !== "" && old.has(line)).length;
  return common(fresh) > common(bareNew);
}

function withoutFence(text: string): string | undefined {
  const fenced = /^\s*(`{3,}|~{3,})[^\n`]*\n([\s\S]*?)\n?\1[ \t]*\s*$/.exec(text);
  return fenced?.[2];
}

/** One level of JSON string escaping; a backslash before anything else stays. */
function withoutEscapes(text: string): string {
  return text.replaceAll(/\\(?:u([0-9a-fA-F]{4})|([ntr"'`/\\]))/g, (all, code?: string, letter?: string) =>
    code !== undefined ? String.fromCharCode(Number.parseInt(code, 16)) : (escapes[letter ?? ""] ?? all),
  );
}

/** Every line of `old` has a number, each one more than the last; `new` loses those it has. */
function withoutNumbers(hunk: Hunk, number: RegExp): readonly Unwrapped[] {
  const numberOf = (line: string): number | undefined => {
    const found = number.exec(line) ?? bareNumber.exec(line);
    return found?.[1] === undefined ? undefined : Number(found[1]);
  };
  const bare = (line: string): string =>
    number.test(line) ? line.replace(number, "") : line.replace(bareNumber, "");
  const lines = hunk.old.at(-1) === "" ? hunk.old.slice(0, -1) : hunk.old;
  const [first] = lines.map(numberOf);
  if (first === undefined || !lines.every((line, i) => numberOf(line) === first + i)) return [];
  const copied = new Set(hunk.old);
  // Of the lines that are not copied all are numbered or none.
  const own = hunk.new.filter((line) => line.trim() !== "" && !copied.has(line));
  const isNumbered = own.every((line) => numberOf(line) !== undefined);
  const fresh = hunk.new.map((line) => (isNumbered || copied.has(line) ? bare(line) : line));
  const hints = { ...hunk.hints, line: first };
  return [{ wrapping: "line numbers", hunk: { ...hunk, old: hunk.old.map(bare), new: fresh, hints } }];
}
