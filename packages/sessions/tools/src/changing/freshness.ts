/** Freshness: the file as the model last saw it, compared with its current version. */
import { unifiedDiffStart } from "@lathe/edits";
import { type Failure, type FileContent, failure, isFailure, type ToolContext } from "@lathe/protocol";

/** Characters of others' changes that a model is shown. */
const othersChars = 4_000;

export const changedBy = "by a command, a formatter or a person";

/** The text that the model last saw of the file; undefined if it saw none. */
export async function shownText(
  file: FileContent,
  context: ToolContext,
): Promise<string | undefined | Failure> {
  const last = context.shown(file.path).at(-1);
  if (last === undefined) return undefined;
  if (last.version === file.version) return file.text;
  const text = await context.texts.recall(last.version);
  if (text !== undefined) return text;
  const why = `changed since you saw it (${changedBy}): read it again. Nothing was written.`;
  return failure("stale-version", `${file.path} ${why}`);
}

/** For calls that destroy a file: fails if the model saw another version than the current one. */
export async function refuseStale(file: FileContent, context: ToolContext): Promise<Failure | undefined> {
  if (context.shown(file.path).some(({ version }) => version === file.version)) return undefined;
  const shown = await shownText(file, context);
  if (shown === undefined || isFailure(shown)) return shown;
  const why = `changed since you saw it (${changedBy}). Nothing was written. Read it again if it is still to go:`;
  return failure("stale-version", `${file.path} ${why}\n${othersDiff(file, shown)}`);
}

/** The diff from the text that the model saw to the current text. */
export function othersDiff({ path, text }: FileContent, shown: string): string {
  const diff = unifiedDiffStart({ before: shown, after: text, path }, othersChars);
  return diff.isCut ? `${diff.text}\n[cut: read the file again]` : diff.text;
}
