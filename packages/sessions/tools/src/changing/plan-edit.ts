/** One file's edit, planned: against what the model was shown, through the syntax gate, nothing written yet. */
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

/** Lines of a result that show what a file now says, in all and per place. */
const shownLines = 40;
const placeLines = 12;

export interface PlannedEdit {
  readonly file: FileContent;
  readonly applied: Applied;
  /** The text of the version the model had been shown last; undefined where it was shown none. */
  readonly shown: string | undefined;
}

/** Fails with the path in front of what the engine says. */
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

/** As it is named by the call's effects, and where it goes, if it is moved. */
export interface EditPlace {
  readonly target: string;
  /** As it is written, where a link is not to be taken for the file behind it. */
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

/** A person's choice is carried out even where it does not parse: the model is told that. */
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

/** What a carried out edit leaves behind for the session. The new version is shown to a model that had seen the file. */
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

/** The edited lines as they now are, what was tolerated, and what others changed meanwhile. */
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
