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

/** The signs behind a copied line number; the space after some of them may be the line's own. */
const separators = ["\t", "→", "| ", "│ ", "|", "│", ": ", ":", ". ", ") ", "- "];

const codeFence = "a code fence";

const wrappings: readonly Wrapping[] = [
  [codeFence, withoutFence],
  ["HTML entities", (text) => text.replaceAll(/&(#?\w+);/g, (all, name) => entities[name] ?? all)],
  ["escaped quotes", (text) => text.replaceAll(/\\(["'`])/g, "$1")],
  ["doubled backslashes", (text) => text.replaceAll("\\\\", "\\")],
  ["JSON escapes", withoutEscapes],
];

/** Every unwrapped form that differs from the hunk. */
export function unwrappings(hunk: Hunk): readonly Unwrapped[] {
  const old = hunk.old.join("\n");
  const fresh = hunk.new.join("\n");
  const numbered = separators.flatMap((separator) => withoutNumbers(hunk, separator));
  const { kept: _, ...bareHunk } = hunk;
  const others = wrappings.flatMap(([wrapping, off]) => {
    const bare = off(old);
    if (bare === undefined || bare === old) return [];
    const bareNew = unwrappedNew(fresh, { old, bare, off });
    if (bareNew === undefined) return [];
    return [{ wrapping, hunk: { ...bareHunk, old: bare.split("\n"), new: bareNew.split("\n") } }];
  });
  return [...numbered, ...others];
}

interface Off {
  readonly old: string;
  readonly bare: string;
  off(text: string): string | undefined;
}

/** Whether the line above the place could be what was taken off: then it was copied, and wrongly. */
export function isWorn(wrapping: string, lineAbove: string | undefined): boolean {
  return wrapping === codeFence && /^\s*(?:`{3}|~{3})/.test(lineAbove ?? "");
}

/** What `new` means: as it is where it does not wear what `old` does; undefined where that cannot be told. */
function unwrappedNew(fresh: string, { old, bare, off }: Off): string | undefined {
  const bareNew = off(fresh);
  if (bareNew === undefined) return /^\s*(?:`{3}|~{3})/m.test(fresh) ? undefined : fresh;
  if (bareNew === fresh) return fresh;
  // A character that was wrapped in `old` stands bare in a `new` that is not.
  const worn = Array.from("\"'<>\n").filter((one) => countOf(bare, one) > countOf(old, one));
  const isBare = worn.some((one) => countOf(fresh, one) > 0);
  return isBare || wearsLess(fresh, bareNew, bare) ? fresh : bareNew;
}

/** How often a character stands there, not behind a backslash. */
function countOf(text: string, character: string): number {
  return text.replaceAll(/\\./gs, "").split(character).length - 1;
}

/** The model wrapped `old` alone: `new` as it stands has more lines of the unwrapped `old`. */
function wearsLess(fresh: string, bareNew: string, bareOld: string): boolean {
  const old = new Set(bareOld.split("\n"));
  const common = (text: string): number =>
    text.split("\n").filter((line) => line !== "" && old.has(line)).length;
  return common(fresh) > common(bareNew);
}

function withoutFence(text: string): string | undefined {
  const lines = text.split("\n");
  const first = lines.findIndex((line) => line.trim() !== "");
  const last = lines.findLastIndex((line) => line.trim() !== "");
  const fence = /^(`{3,}|~{3,})[^`]*$/.exec(lines[first]?.trim() ?? "")?.[1];
  if (fence === undefined || last <= first || lines[last]?.trim() !== fence) return undefined;
  return lines.slice(first + 1, last).join("\n");
}

/** One level of JSON string escaping; a backslash before anything else stays. */
function withoutEscapes(text: string): string {
  return text.replaceAll(/\\(?:u([0-9a-fA-F]{4})|([ntr"'`/\\]))/g, (all, code?: string, letter?: string) =>
    code !== undefined ? String.fromCharCode(Number.parseInt(code, 16)) : (escapes[letter ?? ""] ?? all),
  );
}

/** Every line of `old` has a number, each one more than the last; `new` loses those that are written the same way. */
function withoutNumbers(hunk: Hunk, separator: string): readonly Unwrapped[] {
  const sign = escaped(separator);
  const pattern = new RegExp(`^\\s*(\\d+)(?:[ ]*${sign}|[ ]*${escaped(separator.trim())}?\\s*$)`);
  const numberOf = (line: string): number | undefined => {
    const found = pattern.exec(line)?.[1];
    return found === undefined ? undefined : Number(found);
  };
  const bare = (line: string): string => line.replace(pattern, "");
  const lines = hunk.old.at(-1) === "" ? hunk.old.slice(0, -1) : hunk.old;
  const [first] = lines.map(numberOf);
  if (first === undefined || !lines.every((line, i) => numberOf(line) === first + i)) return [];
  const { kept: _, ...rest } = hunk;
  const hints = { ...hunk.hints, line: first };
  const fresh = bareNumbers(hunk, { numberOf, bare, isSure: /[\t→|│]/.test(separator) });
  return [{ wrapping: "line numbers", hunk: { ...rest, old: hunk.old.map(bare), new: fresh, hints } }];
}

interface Numbers {
  numberOf(line: string): number | undefined;
  bare(line: string): string;
  /** Nothing else is written with this sign behind a number. */
  readonly isSure: boolean;
}

/** Copied lines lose theirs; others when the sign is sure and something follows it, or when all of them are in sequence. */
function bareNumbers(hunk: Hunk, { numberOf, bare, isSure }: Numbers): readonly string[] {
  const copied = new Set(hunk.old);
  const own = hunk.new.filter((line) => line.trim() !== "" && !copied.has(line));
  const solid = hunk.new.filter((line) => line.trim() !== "").map(numberOf);
  const isSequence = solid.every(
    (number, i) => number !== undefined && (i === 0 || number === (solid[i - 1] ?? 0) + 1),
  );
  const isAll = own.every((line) => numberOf(line) !== undefined);
  return hunk.new.map((line) => {
    if (copied.has(line)) return bare(line);
    const isNumbered =
      numberOf(line) !== undefined && (isSequence || (isSure && (isAll || bare(line) !== "")));
    return isNumbered && !(bare(line) === "" && !isSequence && !/\D$/.test(line)) ? bare(line) : line;
  });
}

function escaped(text: string): string {
  return text.replaceAll(/[.|)$(]/g, "\\$&");
}
