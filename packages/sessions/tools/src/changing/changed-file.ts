/** The facts of a change to a file: its versions, a diff for people, and how its edit matched. */
import { unifiedDiffStart } from "@lathe/edits";
import type { Committed, FileChange } from "@lathe/protocol";

const diffChars = 20_000;

/** A file's text before and after; undefined if the file does not exist. */
export interface Rewritten {
  readonly before: string | undefined;
  readonly after: string | undefined;
  /** For an edit: how it was matched. */
  readonly match?: string;
}

export function changedFile(committed: Committed, { before, after, match }: Rewritten): FileChange {
  const { text, isCut } = unifiedDiffStart({ before, after, path: committed.path }, diffChars);
  const shown = isCut ? `${text}\n[diff cut]\n` : text;
  return { ...committed, diff: shown, ...(match !== undefined && { match }) };
}
