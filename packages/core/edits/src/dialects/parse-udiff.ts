/** Unified diffs, with a tolerant parser: numbers, counts and file headers may be wrong or missing. */
import { type Failure, isFailure } from "@lathe/protocol";
import { refusal } from "../failures.ts";
import type { Hunk } from "../hunk.ts";
import { HunkLines } from "./hunk-lines.ts";
import { type PatchFile, patchLines, patchPath } from "./patch-file.ts";

const section = /^@@(?: *-(\d+)(?:,(\d+))? +\+(\d+)(?:,(\d+))? *@@)? *(.*?)(?: *@@)?$/;
const gitLine =
  /^(?:\*{3} *(?:Begin|End) Patch *$|diff --git |index [0-9a-f]+\.\.|(?:old|new|deleted file|new file) mode |similarity index |rename (?:from|to) |Binary files )/;

/** The path that means no file. */
const nothing = "/dev/null";

interface Reader {
  readonly lines: readonly string[];
  at: number;
}

/** The files in the order of the diff; `path` is the file of a diff that names none. */
export function parseUdiff(patch: string, path?: string): readonly PatchFile[] | Failure {
  const reader: Reader = { lines: patchLines(patch, isStart), at: 0 };
  const files: PatchFile[] = [];
  while (reader.at < reader.lines.length) {
    const file = readFile(reader, path);
    if (isFailure(file)) return file;
    if (file) files.push(file);
  }
  return files.length > 0 ? files : invalid("has no hunk");
}

/** A header of a file or a hunk; a removed line may look like the first line of a file header. */
function isStart(line: string, next: string | undefined): boolean {
  return /^(?:diff --git |@@)/.test(line) || (/^--- \S/.test(line) && next?.startsWith("+++ ") === true);
}

function readFile(reader: Reader, path: string | undefined): PatchFile | Failure | undefined {
  const renamed = readRename(reader);
  if (renamed) return renamed;
  while (isPreamble(reader)) reader.at++;
  if (reader.at >= reader.lines.length) return undefined;
  const names = readNames(reader);
  const hunks: Hunk[] = [];
  while (reader.at < reader.lines.length && !startsFile(reader)) {
    const hunk = readHunk(reader);
    if (hunk) hunks.push(hunk);
  }
  const [from, to] = names ?? [path, path];
  if (from === undefined || to === undefined)
    return invalid("names no file: write `--- a/path` and `+++ b/path`");
  const [old, fresh] = withoutPrefixes(from, to);
  if (fresh === nothing) return { type: "delete", path: old, ...(hunks.length > 0 && { hunks }) };
  if (old === nothing) return { type: "add", path: fresh, text: addedText(hunks) };
  if (hunks.length === 0) return invalid(`has no hunk for ${fresh}`);
  return { type: "update", path: old, ...(old !== fresh && { to: fresh }), hunks };
}

/** A file that was only renamed has no hunk. */
function readRename(reader: Reader): PatchFile | undefined {
  const rest = reader.lines.slice(reader.at);
  const next = rest.findIndex((line, i) => i > 0 && line.startsWith("diff --git "));
  const block = next < 0 ? rest : rest.slice(0, next);
  if (!rest[0]?.startsWith("diff --git ") || block.some((line) => /^(?:@@|--- )/.test(line)))
    return undefined;
  const after = (start: string): string | undefined =>
    block.find((line) => line.startsWith(start))?.slice(start.length);
  const from = after("rename from ");
  const to = after("rename to ");
  if (from === undefined || to === undefined) return undefined;
  reader.at += block.length;
  return { type: "update", path: patchPath(from), to: patchPath(to), hunks: [] };
}

function isPreamble({ lines, at }: Reader): boolean {
  const line = lines[at];
  if (line === undefined || isFileHeader(lines, at)) return false;
  return gitLine.test(line) || (line.trim() === "" && at === 0);
}

function startsFile({ lines, at }: Reader): boolean {
  return (lines[at] ?? "").startsWith("diff --git ") || isFileHeader(lines, at);
}

/** A removed line may look like the first of the two, so the second and a hunk must follow. */
function isFileHeader(lines: readonly string[], at: number): boolean {
  if (!lines[at]?.startsWith("--- ") || !lines[at + 1]?.startsWith("+++ ")) return false;
  return at + 2 >= lines.length || at === 0 || /^(?:@@|diff --git )/.test(lines[at + 2] ?? "");
}

function readNames(reader: Reader): readonly [string, string] | undefined {
  const { lines, at } = reader;
  if (!isFileHeader(lines, at)) return undefined;
  reader.at += 2;
  return [patchPath(lines[at]?.slice(4) ?? ""), patchPath(lines[at + 1]?.slice(4) ?? "")];
}

/** Removes git's `a/` and `b/`, but only if both sides have them: a folder may be called `a`. */
function withoutPrefixes(from: string, to: string): readonly [string, string] {
  const isGit = (from === nothing || /^[aciow]\//.test(from)) && (to === nothing || /^[bciow]\//.test(to));
  if (!isGit) return [from, to];
  return [from === nothing ? from : from.slice(2), to === nothing ? to : to.slice(2)];
}

function readHunk(reader: Reader): Hunk | undefined {
  const line = reader.lines[reader.at] ?? "";
  const head = line.startsWith("@@") ? section.exec(line) : undefined;
  if (head) reader.at++;
  const [, start, old = "1", , fresh = "1", header] = head ?? [];
  const counts = { old: Number(old), new: Number(fresh) };
  const hunk = new HunkLines();
  const isDone = start !== undefined && readCounted(reader, hunk, counts);
  while (!isDone && reader.at < reader.lines.length && !startsFile(reader) && !startsHunk(reader)) {
    const next = reader.lines[reader.at++] ?? "";
    if (!gitLine.test(next)) hunk.add(next);
  }
  if (hunk.isEmpty) return undefined;
  // If its line counts are wrong, its line number is unreliable, too.
  const isCounted = start !== undefined && hunk.counts.old === counts.old && hunk.counts.new === counts.new;
  return hunk.hunk({ headers: header ? [header] : [], ...(isCounted && { line: Number(start) }) });
}

function startsHunk({ lines, at }: Reader): boolean {
  return (lines[at] ?? "").startsWith("@@");
}

interface Counts {
  readonly old: number;
  readonly new: number;
}

/** Takes the promised number of lines, whatever they look like; none, and false, if the counts are wrong. */
function readCounted(reader: Reader, hunk: HunkLines, counts: Counts): boolean {
  const end = countedEnd(reader, counts);
  if (end === undefined) return false;
  while (reader.at < end) hunk.add(reader.lines[reader.at++] ?? "");
  hunk.keepBlanks();
  if (reader.lines[reader.at]?.startsWith("\\")) hunk.add(reader.lines[reader.at++] ?? "");
  // Skips text that is neither the next hunk nor the next file.
  while (reader.at < reader.lines.length && !startsFile(reader) && !startsHunk(reader)) reader.at++;
  return true;
}

function countedEnd({ lines, at }: Reader, counts: Counts): number | undefined {
  const left = { old: counts.old, new: counts.new };
  let end = at;
  while (left.old > 0 || left.new > 0) {
    const line = lines[end++];
    const mark = line?.[0] ?? "";
    if (line === undefined || mark === "@" || gitLine.test(line)) return undefined;
    left.old -= countsFor(mark, "+");
    left.new -= countsFor(mark, "-");
    if (left.old < 0 || left.new < 0) return undefined;
  }
  // If more marked lines follow, the counts are wrong.
  const next = lines.slice(end).find((line) => line !== "" && !line.startsWith("\\")) ?? "";
  return /^(?:[+ ]|-(?!-- ))/.test(next) ? undefined : end;
}

/** A line counts for a side unless it belongs to the other, or is a note. */
function countsFor(mark: string, other: "+" | "-"): number {
  return mark === other || mark === "\\" ? 0 : 1;
}

function addedText(hunks: readonly Hunk[]): string {
  const lines = hunks.flatMap((hunk) => hunk.new);
  const text = lines.map((line) => `${line}\n`).join("");
  return hunks.at(-1)?.finalNewline === "removed" ? text.slice(0, -1) : text;
}

function invalid(what: string): Failure {
  return refusal("invalid-patch", "The diff", { what, next: "Write a unified diff with `@@` hunks." });
}
