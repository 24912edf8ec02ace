/** The hunks of a file as a call would leave it; a person can accept each of them. */
import type { ProposedFile } from "@lathe/protocol";
import { hunksBetween } from "./take-hunks.ts";
import { unifiedHunks } from "./unified-diff.ts";

/** A created, deleted or moved file is one hunk: half of it would be another file. */
export function proposedHunks(file: ProposedFile): readonly string[] {
  return isInPlace(file) ? hunksBetween(file.before, file.after) : [unifiedHunks(file.before, file.after)];
}

export function isInPlace(
  file: ProposedFile,
): file is ProposedFile & Required<Pick<ProposedFile, "before" | "after">> {
  return file.to === undefined && file.before !== undefined && file.after !== undefined;
}
