/** Writes hunks as a request in one of the formats. */
import { type Change, type Hunk, newLines, oldLines } from "./change.ts";
import type { EditFormat, EditRequest, StringEdit } from "./edit-case.ts";
import { writeLines } from "./text-lines.ts";

/** The form of a patch; absent options mean the usual form. */
export interface PatchDress {
  /** Without the line: `old_string` and `new_string` end with a newline. */
  readonly closed?: boolean;
  readonly gitLines?: boolean;
  readonly endOfFile?: boolean;
  /** Text after `@@` of a unified diff's hunk; the correct numbers by default. */
  readonly numbers?: (hunk: Hunk, delta: number) => string;
}

export function requestOf(
  change: Change,
  hunks: readonly Hunk[],
  form: { readonly format: EditFormat; readonly dress?: PatchDress },
): EditRequest {
  const { format, dress = {} } = form;
  const base = { id: "", path: change.path, content: writeLines(change.before, change.style), format };
  if (format === "search_replace") return { ...base, edits: hunks.map((hunk) => stringEdit(hunk, dress)) };
  const patch = format === "v4a" ? v4aPatch(change, hunks, dress) : unifiedDiff(change, hunks, dress);
  return { ...base, patch };
}

function stringEdit(hunk: Hunk, { closed = false }: PatchDress): StringEdit {
  const side = (lines: readonly string[]): string =>
    closed ? lines.map((line) => `${line}\n`).join("") : lines.join("\n");
  return { old_string: side(oldLines(hunk)), new_string: side(newLines(hunk)) };
}

export function opLines(hunk: Hunk): string[] {
  return hunk.ops.map(({ kind, text }) => kind + text);
}

function v4aPatch(change: Change, hunks: readonly Hunk[], { endOfFile = false }: PatchDress): string {
  const body = hunks.flatMap((hunk) => [
    hunk.header === undefined ? "@@" : `@@ ${hunk.header}`,
    ...opLines(hunk),
    ...(endOfFile && reachesEnd(change, hunk) ? ["*** End of File"] : []),
  ]);
  return ["*** Begin Patch", `*** Update File: ${change.path}`, ...body, "*** End Patch"].join("\n");
}

export function reachesEnd(change: Change, hunk: Hunk): boolean {
  return hunk.start + oldLines(hunk).length === change.before.length;
}

function unifiedDiff(change: Change, hunks: readonly Hunk[], dress: PatchDress): string {
  const { path } = change;
  const lines = dress.gitLines ? [`diff --git a/${path} b/${path}`, "index 3b18e51..8d5f2c0 100644"] : [];
  lines.push(`--- a/${path}`, `+++ b/${path}`);
  let delta = 0;
  for (const hunk of hunks) {
    const numbers = (dress.numbers ?? rightNumbers)(hunk, delta);
    lines.push(`@@${numbers}`, ...markedLines(change, hunk));
    delta += newLines(hunk).length - oldLines(hunk).length;
  }
  return `${lines.join("\n")}\n`;
}

/** ` -12,7 +12,8 @@`; `delta` is the number of lines that earlier hunks have added. */
export function rightNumbers(hunk: Hunk, delta: number): string {
  const [oldCount, newCount] = [oldLines(hunk).length, newLines(hunk).length];
  const first = (count: number, start: number): number => (count === 0 ? start : start + 1);
  const oldRange = range(first(oldCount, hunk.start), oldCount);
  const newRange = range(first(newCount, hunk.start + delta), newCount);
  const heading = hunk.header === undefined ? "" : ` ${hunk.header}`;
  return ` -${oldRange} +${newRange} @@${heading}`;
}

function range(start: number, count: number): string {
  return count === 1 ? `${start}` : `${start},${count}`;
}

/** The hunk's lines, with git's note after a last line without a newline. */
function markedLines(change: Change, hunk: Hunk): string[] {
  if (change.style.final || !reachesEnd(change, hunk)) return opLines(hunk);
  const lastOld = hunk.ops.findLastIndex(({ kind }) => kind !== "+");
  const lastNew = hunk.ops.findLastIndex(({ kind }) => kind !== "-");
  return opLines(hunk).flatMap((line, index) =>
    index === lastOld || index === lastNew ? [line, "\\ No newline at end of file"] : [line],
  );
}
