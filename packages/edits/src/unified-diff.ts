/** A unified diff of two versions of a file, for people and for the log. */
import { type ChangedLines, diffLines } from "./document/diff-lines.ts";

const context = 3;

/** Unified diff with three lines of context; undefined stands for a file that does not exist; "" when nothing differs. */
export function unifiedDiff(before: string | undefined, after: string | undefined, path: string): string {
  if (before === after) return "";
  const head = [
    `--- ${before === undefined ? "/dev/null" : `a/${path}`}`,
    `+++ ${after === undefined ? "/dev/null" : `b/${path}`}`,
  ];
  return `${head.join("\n")}\n${unifiedHunks(before, after)}`;
}

/** Without the names of files. */
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

/** Changes with at most `most` equal lines between them together. */
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
  const first = runs[0];
  const last = runs.at(-1);
  if (!first || !last) return "";
  const lead = Math.min(context, first.before[0]);
  const start = first.before[0] - lead;
  const end = Math.min(old.length, last.before[1] + context);
  const startNow = first.after[0] - lead;
  const endNow = last.after[1] + (end - last.before[1]);
  const lines: string[] = [`@@ -${span(start, end)} +${span(startNow, endNow)} @@`];
  const add = (mark: string, from: readonly string[], [first, behind]: readonly [number, number]): void => {
    for (let at = first; at < behind; at++) lines.push(marked(mark, from[at] ?? ""));
  };
  let at = start;
  for (const { before, after } of runs) {
    add(" ", old, [at, before[0]]);
    add("-", old, before);
    add("+", now, after);
    at = before[1];
  }
  add(" ", old, [at, end]);
  return lines.join("\n");
}

function span(start: number, end: number): string {
  const count = end - start;
  const from = count === 0 ? start : start + 1;
  return count === 1 ? `${from}` : `${from},${count}`;
}

function marked(mark: string, line: string): string {
  return line.endsWith("\n") ? mark + line.slice(0, -1) : `${mark}${line}\n\\ No newline at end of file`;
}
