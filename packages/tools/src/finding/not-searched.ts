/** The notes on what a search has not looked into, or does not show. */
import type { NotSearched } from "@lathe/protocol";

export function notSearchedNotes({ skipped, unsearched }: NotSearched): readonly string[] {
  return [
    ...(skipped.length > 0 ? [`[not searched, their lines are too long: ${skipped.join(", ")}]`] : []),
    ...(unsearched.length > 0 ? [`[not searched:\n${unsearched.join("\n")}]`] : []),
  ];
}
