/** Plans one file's edit: applies it to the text the model saw, checks its syntax, and writes nothing yet. */
import { type Applied, changedRanges, type EditedFile, gateSyntax } from "@lathe/edits";
import {
  type Committed,
  type Failure,
  type FileContent,
  isFailure,
  type OutcomeFacts,
  type ToolContext,
} from "@lathe/protocol";
import { linesOf, numbered } from "../finding/numbered-lines.ts";
import { targetOf } from "../target-of.ts";
import { changedFile } from "./changed-file.ts";
import { changedBy, othersDiff, shownText } from "./freshness.ts";
import type { PlannedFile } from "./planned-file.ts";

/** Lines of a result that show the file's new text, in total and per place. */
const shownLines = 40;
const placeLines = 12;

export interface PlannedEdit {
  readonly file: FileContent;
  readonly applied: Applied;
  /** The text of the version that the model saw last; undefined if it saw none. */
  readonly shown: string | undefined;
}

/** Fails with the path before the engine's message. */
export async function planEdit(
  path: string,
  context: ToolContext,
  apply: (file: EditedFile) => Applied | Failure,
): Promise<PlannedEdit | Failure> {
  const file = await context.workspace.read(path);
  if (isFailure(file)) return file;
  const shown = await shownText(file, context);
  if (shown !== undefined && isFailure(shown)) return shown;
  const applied = apply({ path: file.path, text: file.text, ...(shown !== undefined && { shown }) });
  const gated = isFailure(applied)
    ? applied
    : await gateSyntax(context.syntax, { path: file.path, before: file.text, applied });
  if (isFailure(gated)) return { ...gated, text: `${file.path}: ${gated.text}` };
  context.texts.keep(file.version, file.text);
  return { file, applied: gated, shown };
}

/** The path as the call's effects name it, and the new path if the file moves. */
export interface EditPlace {
  readonly target: string;
  /** The path as written, if a link must not be replaced by the file behind it. */
  readonly path?: string;
  readonly to?: string | undefined;
}

export function plannedFile(planned: PlannedEdit, place: EditPlace, context: ToolContext): PlannedFile {
  const { file, applied } = planned;
  const { target, to, path = file.path } = place;
  const head = to === undefined ? `Edited ${file.path}` : `Moved ${file.path} to ${to} and edited it`;
  const change = { path, expected: file.version, text: applied.text } as const;
  const texts = { version: file.version, before: file.text, after: applied.text };
  return {
    change: to === undefined ? { ...change, type: "put" } : { ...change, type: "move", to },
    proposed: { path: target, ...(to !== undefined && { to: targetOf(to) }), ...texts },
    done: (one) => ({
      text: editText(`${head} (${placesCount(applied)}).`, planned),
      facts: editFacts(planned, one, context),
    }),
    narrowed: async (text) =>
      plannedFile({ ...planned, applied: await narrowedTo(text, planned, context) }, place, context),
  };
}

/** Applies a person's choice even if the result does not parse; the model gets a note. */
async function narrowedTo(
  text: string,
  { file, applied }: PlannedEdit,
  { syntax }: ToolContext,
): Promise<Applied> {
  const ranges = changedRanges(file.text, text);
  const rest: Applied = { ...applied, text, ranges, tier: "exact", warnings: [] };
  const gated = await gateSyntax(syntax, { path: file.path, before: file.text, applied: rest });
  return isFailure(gated) ? { ...rest, warnings: [gated.text] } : { ...gated, tier: applied.tier };
}

/** The facts of a completed edit. A model that had seen the file counts as having seen the new version. */
function editFacts(
  { file, applied, shown }: PlannedEdit,
  done: Committed,
  context: ToolContext,
): Required<Pick<OutcomeFacts, "changed" | "shown">> {
  const version = done.after ?? "";
  context.texts.keep(version, applied.text);
  const change = changedFile(done, { before: file.text, after: applied.text, match: applied.tier });
  const seen = shown === undefined ? [] : [{ path: done.path, version, ranges: applied.ranges }];
  return { changed: [change], shown: seen };
}

/** The edited lines as they are now, tolerated differences, and others' changes in between. */
function editText(head: string, { file, applied, shown }: PlannedEdit): string {
  return [head, ...applied.warnings, ...placesText(applied), ...othersText(file, shown)].join("\n");
}

function placesText({ text, ranges }: Applied): readonly string[] {
  const lines = linesOf(text);
  const shown: string[] = [];
  for (const [first, last] of ranges) {
    const end = Math.min(last, lines.length, first + placeLines - 1);
    if (shown.length + end - first >= shownLines) return [...shown, "..."];
    for (let line = first; line <= end; line++) shown.push(numbered(lines, line));
    if (end < Math.min(last, lines.length)) shown.push("...");
  }
  return shown;
}

function othersText(file: FileContent, shown: string | undefined): readonly string[] {
  if (shown === undefined || shown === file.text) return [];
  return [`It changed since you saw it (${changedBy}); this stays as it is:`, othersDiff(file, shown)];
}

function placesCount({ ranges }: Applied): string {
  return ranges.length === 1 ? "1 place" : `${ranges.length} places`;
}
