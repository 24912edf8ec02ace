/** Which of the files that ripgrep finds were asked for, and which of these are to be left out. */
import { type Failure, type FilesQuery, failure } from "@lathe/protocol";
import { globMatcher } from "./glob.ts";

export interface Sieve {
  wanted(path: string): boolean;
  excluded(path: string): boolean;
}

/** `from` is the path that is searched. */
export function sieveOf(from: string, { glob, exclude = [] }: FilesQuery): Sieve | Failure {
  try {
    const excluding = exclude.map(globMatcher);
    return {
      wanted: glob === undefined ? () => true : wantedPaths(from, glob),
      excluded: (path) => excluding.some((matches) => matches(path)),
    };
  } catch (error) {
    return failure("search-failed", `${glob} is not a valid glob.`, { cause: error });
  }
}

/** A glob may be told from the workspace or from the path that is searched: models mean either. */
function wantedPaths(from: string, glob: string): (path: string) => boolean {
  const matches = globMatcher(glob);
  if (from === "") return matches;
  const below = (found: string): boolean => matches(found.slice(from.length + 1));
  if (glob.startsWith("!")) return (found) => matches(found) && below(found);
  return (found) => matches(found) || below(found);
}
