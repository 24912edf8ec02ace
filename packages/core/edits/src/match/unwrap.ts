/** Removes the wrappings that models add to text, one at a time, from old and new together. */
import type { Hunk } from "../hunk.ts";

export interface Unwrapped {
  readonly wrapping: string;
  readonly hunk: Hunk;
}

/** Undefined if the text does not have this wrapping. */
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

/** The signs after a copied line number; the space after some of them may belong to the line. */
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

/**
 * Whether the line above the place could be the removed wrapping: then it was copied, and the match is wrong.
 */
export function isWorn(wrapping: string, lineAbove: string | undefined): boolean {
  return wrapping === codeFence && /^\s*(?:`{3}|~{3})/.test(lineAbove ?? "");
}

/** The meaning of `new`: unchanged if it lacks the wrapping of `old`; undefined if unclear. */
function unwrappedNew(fresh: string, { old, bare, off }: Off): string | undefined {
  const bareNew = off(fresh);
  if (bareNew === undefined) return /^\s*(?:`{3}|~{3})/m.test(fresh) ? undefined : fresh;
  if (bareNew === fresh) return fresh;
  // If `new` has such a character without the wrapping, the model wrapped only `old`.
  const worn = Array.from("\"'<>\n").filter((one) => countOf(bare, one) > countOf(old, one));
  const isBare = worn.some((one) => countOf(fresh, one) > 0);
  return isBare || wearsLess(fresh, bareNew, bare) ? fresh : bareNew;
}

/** The number of occurrences of a character that is not after a backslash. */
function countOf(text: string, character: string): number {
  return text.replaceAll(/\\./gs, "").split(character).length - 1;
}

/** The model wrapped only `old`: the unchanged `new` shares more lines with the unwrapped `old`. */
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

/** Removes one level of JSON string escaping; a backslash before anything else stays. */
function withoutEscapes(text: string): string {
  return text.replaceAll(/\\(?:u([0-9a-fA-F]{4})|([ntr"'`/\\]))/g, (all, code?: string, letter?: string) =>
    code !== undefined ? String.fromCharCode(Number.parseInt(code, 16)) : (escapes[letter ?? ""] ?? all),
  );
}

/** Every line of `old` has a number, each one higher than the last; `new` loses those in the same format. */
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
  /** Nothing else is written with this sign after a number. */
  readonly isSure: boolean;
}

/**
 * Copied lines lose their numbers; others if the sign is sure and text follows it, or if all are in sequence.
 */
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
