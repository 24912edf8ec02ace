/** Run-later paths: every path on the list of files that run later, as a file, in several spellings. */
import { runLaterEntries } from "@lathe/protocol";

export interface SpelledPath {
  readonly path: string;
  /** In lower case, as in the list. */
  readonly listed: string;
}

export function spelledRunLaterPaths(): readonly SpelledPath[] {
  const all = runLaterEntries.flatMap(({ paths }) => paths);
  return all.flatMap((listed) => {
    const file = (listed.endsWith("/") ? `${listed}deep/file.json` : listed).replaceAll("*", "ci");
    return [...spellings(file), `packages/one/${file}`].map((path) => ({ path, listed }));
  });
}

/** Unchanged, in upper case, with capitalized names, and with letters that are equal under case folding. */
function spellings(path: string): readonly string[] {
  const capitals = path.replace(/(?<=^|\/|\.)[a-z]/gu, (letter) => letter.toUpperCase());
  return [
    ...new Set([path, path.toUpperCase(), capitals, path.replace("s", "\u017f").replace("k", "\u212a")]),
  ];
}
