/** Freshness: what a file was when the model last saw it, and what it has become since. */
import { unifiedDiffStart } from "@lathe/edits";
import { type Failure, type FileContent, failure, isFailure, type ToolContext } from "@lathe/protocol";

/** Characters of what others changed that a model is told. */
const othersChars = 4_000;

export const changedBy = "by a command, a formatter or a person";

/** What the model believes the file to be; undefined where it was shown none of it. */
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

/** For what destroys a file: fails when the model was shown another version of it than there is. */
export async function refuseStale(file: FileContent, context: ToolContext): Promise<Failure | undefined> {
  if (context.shown(file.path).some(({ version }) => version === file.version)) return undefined;
  const shown = await shownText(file, context);
  if (shown === undefined || isFailure(shown)) return shown;
  const why = `changed since you saw it (${changedBy}). Nothing was written. Read it again if it is still to go:`;
  return failure("stale-version", `${file.path} ${why}\n${othersDiff(file, shown)}`);
}

/** From what the model was shown to what there is. */
export function othersDiff({ path, text }: FileContent, shown: string): string {
  const diff = unifiedDiffStart({ before: shown, after: text, path }, othersChars);
  return diff.isCut ? `${diff.text}\n[cut: read the file again]` : diff.text;
}
