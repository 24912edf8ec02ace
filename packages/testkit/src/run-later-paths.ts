/** Run-later paths: every path on the list of files that run later, as a file, in each of some spellings. */
import { runLaterEntries } from "@lathe/protocol";

export interface SpelledPath {
  readonly path: string;
  /** In small letters, as it is in the list. */
  readonly listed: string;
}

export function spelledRunLaterPaths(): readonly SpelledPath[] {
  const all = runLaterEntries.flatMap(({ paths }) => paths);
  return all.flatMap((listed) => {
    const file = (listed.endsWith("/") ? `${listed}deep/file.json` : listed).replaceAll("*", "ci");
    return [...spellings(file), `packages/one/${file}`].map((path) => ({ path, listed }));
  });
}

/** As it is, in capitals, with a capital at the start of each name, and with letters that are the same without case. */
function spellings(path: string): readonly string[] {
  const capitals = path.replace(/(?<=^|\/|\.)[a-z]/gu, (letter) => letter.toUpperCase());
  return [
    ...new Set([path, path.toUpperCase(), capitals, path.replace("s", "\u017f").replace("k", "\u212a")]),
  ];
}
