/**
 * The V4A patch format of OpenAI's `apply_patch`, with a tolerant parser: `*** Update File: p`, `@@ header`,
 * marked lines.
 */
import { type Failure, isFailure } from "@lathe/protocol";
import { refusal } from "../failures.ts";
import type { Hunk } from "../hunk.ts";
import { HunkLines } from "./hunk-lines.ts";
import { type PatchFile, patchLines, patchPath } from "./patch-file.ts";

const fileLine = /^\*{3} *(Update|Add|Delete|Create|Modify|Remove) File: *(.+)$/i;
const startLine = /^ *\*{3} *(?:Begin Patch *$|(?:Update|Add|Delete) File: )/i;
const moveLine = /^\*{3} *(?:Move|Rename) to: *(.+)$/i;
const endLine = /^\*{3} *End Patch *$/i;
const markLine = /^\*{3} *(?:Begin Patch|End Patch|End of File) *$/i;
const sectionLine = /^@@(?: *-(\d+)(?:,(\d+))? +\+\d+(?:,(\d+))? *@@)? *(.*?)(?: *@@)?$/;

/** A section of the patch while it is read. */
interface Section {
  readonly kind: "update" | "add" | "delete";
  readonly path: string;
  to?: string;
  readonly lines: string[];
}

/** The files in the order of the patch; `path` is the file of a patch that names none. */
export function parseV4a(patch: string, path?: string): readonly PatchFile[] | Failure {
  const sections = sectionsOf(
    patchLines(patch, (line) => startLine.test(line)),
    path,
  );
  if (isFailure(sections)) return sections;
  const files: PatchFile[] = [];
  for (const section of sections) {
    const file = fileOf(section);
    if (isFailure(file)) return file;
    files.push(file);
  }
  return files;
}

function sectionsOf(lines: readonly string[], path: string | undefined): readonly Section[] | Failure {
  const unnamed: Section = { kind: "update", path: path ?? "", lines: [] };
  const sections = [unnamed];
  const end = lines.findIndex(
    (line, i) => endLine.test(line) && !lines.slice(i + 1).some((next) => fileLine.test(next)),
  );
  for (const line of end < 0 ? lines : lines.slice(0, end)) readLine(line, sections);
  const isUnnamed = unnamed.lines.some((line) => line.trim() !== "");
  if (isUnnamed && path === undefined) {
    const stray = unnamed.lines.find((line) => line.trim() !== "") ?? "";
    return invalid(`has \`${stray.slice(0, 60)}\` before any \`*** Update File: path\` line`);
  }
  const named = isUnnamed ? sections : sections.slice(1);
  return named.length > 0 ? named : invalid("names no file");
}

function readLine(line: string, sections: Section[]): void {
  const [, word, path] = fileLine.exec(line) ?? [];
  const section = sections.at(-1);
  const to = moveLine.exec(line)?.[1];
  if (word !== undefined && path !== undefined) {
    sections.push({ kind: kindOf(word), path: patchPath(path), lines: [] });
  } else if (to !== undefined && section) section.to = patchPath(to);
  else if (!markLine.test(line)) section?.lines.push(line);
}

function kindOf(word: string): Section["kind"] {
  switch (word.toLowerCase()) {
    case "add":
    case "create":
      return "add";
    case "delete":
    case "remove":
      return "delete";
    default:
      return "update";
  }
}

function fileOf(section: Section): PatchFile | Failure {
  const { kind, path, to, lines } = section;
  if (to !== undefined && kind !== "update") return invalid(`moves ${path}, which it ${kind}s`);
  switch (kind) {
    case "delete":
      return { type: "delete", path };
    case "add": {
      const end = lines.findLastIndex((line) => line !== "");
      const text = lines.slice(0, end + 1).map((line) => (line.startsWith("+") ? line.slice(1) : line));
      return { type: "add", path, text: text.map((line) => `${line}\n`).join("") };
    }
    case "update": {
      const hunks = hunksOf(lines);
      if (hunks.length === 0 && to === undefined) return invalid(`changes nothing in ${path}`);
      return { type: "update", path, ...(to !== undefined && { to }), hunks };
    }
  }
}

function hunksOf(lines: readonly string[]): readonly Hunk[] {
  const hunks: Hunk[] = [];
  let headers: string[] = [];
  let numbers: RegExpExecArray | undefined;
  let open: HunkLines | undefined;
  const close = (): void => {
    if (open && !open.isEmpty) hunks.push(open.hunk({ headers, ...lineOf(numbers, open.counts) }));
    // Consecutive headers lead to the place from outermost to innermost.
    if (open) headers = [];
    open = undefined;
  };
  for (const written of lines) {
    const section = written.startsWith("@@") ? sectionLine.exec(written) : undefined;
    if (section) {
      close();
      numbers = section;
      if (section[4]) headers = [...headers, section[4]];
      continue;
    }
    open ??= new HunkLines();
    open.add(written);
  }
  close();
  return hunks;
}

/** If the line counts are wrong, the line number is unreliable, too. */
function lineOf(
  [, start, old = "1", fresh = "1"]: readonly (string | undefined)[] = [],
  counts: { readonly old: number; readonly new: number },
): { readonly line?: number } {
  const isCounted = start !== undefined && Number(old) === counts.old && Number(fresh) === counts.new;
  return isCounted ? { line: Number(start) } : {};
}

function invalid(what: string): Failure {
  return refusal("invalid-patch", "The patch", {
    what,
    next: "Write `*** Begin Patch`, `*** Update File: path`, `@@`, lines that begin with space, - or +, `*** End Patch`.",
  });
}
