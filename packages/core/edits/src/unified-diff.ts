/** A unified diff of two versions of a file, for people and for the log. */
import { type ChangedLines, diffLines } from "./document/diff-lines.ts";

const context = 3;

/** Unified diff with three lines of context; undefined means no such file; "" if nothing differs. */
export function unifiedDiff(before: string | undefined, after: string | undefined, path: string): string {
  if (before === after) return "";
  return headOf(before, after, path) + unifiedHunks(before, after);
}

/** Two versions of a file; undefined if it does not exist. */
export interface DiffSides {
  readonly before: string | undefined;
  readonly after: string | undefined;
  readonly path: string;
}

/** The first `maxChars` characters of the unified diff; no line beyond them is rendered. */
export function unifiedDiffStart(
  { before, after, path }: DiffSides,
  maxChars: number,
): { readonly text: string; readonly isCut: boolean } {
  if (before === after) return { text: "", isCut: false };
  let text = headOf(before, after, path);
  const [old, now] = [splitLines(before ?? ""), splitLines(after ?? "")];
  for (const runs of grouped(diffLines(old, now), 2 * context)) {
    for (const line of hunkLines(runs, old, now)) {
      text += `${line}\n`;
      if (text.length > maxChars) return { text: text.slice(0, maxChars), isCut: true };
    }
  }
  return { text, isCut: false };
}

function headOf(before: string | undefined, after: string | undefined, path: string): string {
  const from = before === undefined ? "/dev/null" : `a/${path}`;
  return `--- ${from}\n+++ ${after === undefined ? "/dev/null" : `b/${path}`}\n`;
}

/** The unified diff without file names. */
export function unifiedHunks(before: string | undefined, after: string | undefined): string {
  const old = splitLines(before ?? "");
  const now = splitLines(after ?? "");
  const hunks = grouped(diffLines(old, now), 2 * context).map((runs) => hunkText(runs, old, now));
  return hunks.map((hunk) => `${hunk}\n`).join("");
}

/** Lines with their terminators, so that a missing final newline and a lone CR are differences. */
export function splitLines(text: string): readonly string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

/** Groups changes with at most `most` equal lines between them. */
export function grouped(runs: readonly ChangedLines[], most: number): readonly (readonly ChangedLines[])[] {
  const groups: ChangedLines[][] = [];
  for (const run of runs) {
    const group = groups.at(-1);
    const end = group?.at(-1)?.before[1];
    if (group && end !== undefined && run.before[0] - end <= most) group.push(run);
    else groups.push([run]);
  }
  return groups;
}

/** With up to three lines of context on either side. */
export function hunkText(
  runs: readonly ChangedLines[],
  old: readonly string[],
  now: readonly string[],
): string {
  return [...hunkLines(runs, old, now)].join("\n");
}

function* hunkLines(
  runs: readonly ChangedLines[],
  old: readonly string[],
  now: readonly string[],
): Generator<string> {
  const first = runs[0];
  const last = runs.at(-1);
  if (!first || !last) return;
  const lead = Math.min(context, first.before[0]);
  const start = first.before[0] - lead;
  const end = Math.min(old.length, last.before[1] + context);
  const startNow = first.after[0] - lead;
  const endNow = last.after[1] + (end - last.before[1]);
  yield `@@ -${span(start, end)} +${span(startNow, endNow)} @@`;
  let at = start;
  for (const { before, after } of runs) {
    for (; at < before[0]; at++) yield marked(" ", old[at] ?? "");
    for (; at < before[1]; at++) yield marked("-", old[at] ?? "");
    for (let line = after[0]; line < after[1]; line++) yield marked("+", now[line] ?? "");
  }
  for (; at < end; at++) yield marked(" ", old[at] ?? "");
}

function span(start: number, end: number): string {
  const count = end - start;
  const from = count === 0 ? start : start + 1;
  return count === 1 ? `${from}` : `${from},${count}`;
}

function marked(mark: string, line: string): string {
  return line.endsWith("\n") ? mark + line.slice(0, -1) : `${mark}${line}\n\\ No newline at end of file`;
}
