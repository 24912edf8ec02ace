/** Counts by brute force the places a text could mean; decides which edits are recoverable. */
import { type Change, type Hunk, oldLines } from "./change.ts";
import type { EditFormat } from "./edit-case.ts";
import { isBlank } from "./text-lines.ts";

/** Differences between two lines that still count as equal; each level includes the ones before it. */
export type Fold = "exact" | "trailing" | "unicode" | "lax";

const minimumLetters = 12;

/** Maps typographic characters to plain ones, in canonical composition; compatibility forms stay distinct. */
export function plainCharacters(text: string): string {
  return text
    .normalize("NFC")
    .replace(/[\u2018\u2019\u201A\u201B\u2032]/g, "'")
    .replace(/[\u201C-\u201F\u2033]/g, '"')
    .replace(/[\u2010-\u2015\u2212]/g, "-")
    .replace(/[\u00A0\u2002-\u200A\u202F\u205F\u3000]/g, " ");
}

const folds: Readonly<Record<Fold, (line: string) => string>> = {
  exact: (line) => line,
  trailing: (line) => line.trimEnd(),
  unicode: (line) => plainCharacters(line).trimEnd(),
  lax: (line) => plainCharacters(line).replace(/\s+/g, ""),
};

/** Counts `old` in `file`: as whole lines, or for "lax" as any part of the text without white space. */
export function placesOf(file: readonly string[], old: readonly string[], fold: Fold): number {
  if (fold === "lax") return occurrences(laxText(file), laxText(old));
  const [folded, wanted] = [file.map(folds[fold]), old.map(folds[fold])];
  let places = 0;
  for (let start = 0; start + wanted.length <= folded.length; start++) {
    if (wanted.every((line, index) => folded[start + index] === line)) places++;
  }
  return places;
}

export function laxText(lines: readonly string[]): string {
  return lines
    .filter((line) => !isBlank(line))
    .map(folds.lax)
    .join("\n");
}

/** Includes overlapping occurrences. */
export function occurrences(text: string, part: string): number {
  if (part === "") return 0;
  let count = 0;
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + 1)) count++;
  return count;
}

export function textOf(lines: readonly string[]): string {
  return lines.join("\n");
}

/** Exact places as the format counts them: a string may start inside a line, patches use whole lines. */
export function exactPlaces(file: readonly string[], old: readonly string[], format: EditFormat): number {
  return format === "search_replace" ? occurrences(textOf(file), textOf(old)) : placesOf(file, old, "exact");
}

/** Every hunk has exactly one place under the fold, and enough text to identify it. */
export function isCertain(change: Change, hunks: readonly Hunk[], fold: Fold): boolean {
  return hunks.every((hunk) => placesOf(change.before, oldLines(hunk), fold) === 1 && isInformative(hunk));
}

/** The hunk matches no place, even for the most tolerant reader. */
export function isNowhere(file: readonly string[], hunk: Hunk): boolean {
  return placesOf(file, oldLines(hunk), "lax") === 0;
}

export function isInformative(hunk: Hunk): boolean {
  const text = laxText(oldLines(hunk));
  return text.length >= minimumLetters && /[A-Za-z_]{3}/.test(text);
}
