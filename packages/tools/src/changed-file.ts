/** The facts of a change to a file: its versions, a diff for people, and how its edit was found. */
import { unifiedDiff } from "@lathe/edits";
import type { Committed, FileChange } from "@lathe/protocol";

const diffChars = 20_000;

/** The texts of a file before and after; undefined where it does not exist. */
export interface Texts {
  readonly before: string | undefined;
  readonly after: string | undefined;
  readonly tier?: string;
}

export function changedFile(committed: Committed, { before, after, tier }: Texts): FileChange {
  const diff = unifiedDiff(before, after, committed.path);
  const shown = diff.length > diffChars ? `${diff.slice(0, diffChars)}\n[diff cut]\n` : diff;
  return { ...committed, diff: shown, ...(tier !== undefined && { tier }) };
}
