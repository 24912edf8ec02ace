/** The notes on files that a search skipped or does not show. */
import type { NotSearched } from "@lathe/protocol";

/** The most file names in a note. */
const maxNames = 20;

export function notSearchedNotes({ skipped, binary, unsearched }: NotSearched): readonly string[] {
  return [
    ...(skipped.length > 0 ? [`[not searched, their lines are too long: ${namesText(skipped)}]`] : []),
    ...(binary.length > 0 ? [`[binary, their matches are not shown: ${namesText(binary)}]`] : []),
    ...(unsearched.length > 0 ? [`[not searched:\n${unsearched.join("\n")}]`] : []),
  ];
}

function namesText(paths: readonly string[]): string {
  const left = paths.length - maxNames;
  return [...paths.slice(0, maxNames), ...(left > 0 ? [`and ${left} more`] : [])].join(", ");
}
