/** Which of the files that ripgrep finds were asked for, and which of these are to be left out. */
import { type Failure, type FilesQuery, failure } from "@lathe/protocol";
import { anyGlobMatcher } from "./any-glob.ts";
import { askedGlobs, type Where } from "./asked-globs.ts";
import { globMatcher, hasOpenBracket, nameGlob } from "./glob.ts";

export interface FileFilter {
  wanted(path: string): boolean;
  excluded(path: string): boolean;
  /** Globs of which the name of each wanted file matches one, as far as there are such. */
  readonly names?: readonly string[];
}

export function fileFilterOf(where: Where, { glob, exclude = [] }: FilesQuery): FileFilter | Failure {
  if (glob !== undefined && hasOpenBracket(glob)) return notGlob(glob);
  try {
    const globs = glob === undefined ? undefined : askedGlobs(where, glob);
    const names = globs?.filter((one) => !one.startsWith("!")).map(nameGlob);
    return {
      wanted: globs ? wantedPaths(where.path, globs) : () => true,
      excluded: anyGlobMatcher(exclude),
      ...(names && isAllKnown(names) && { names }),
    };
  } catch (error) {
    return notGlob(glob, error);
  }
}

function notGlob(glob: string | undefined, cause?: unknown): Failure {
  return failure("search-failed", `${glob} is not a valid glob.`, { cause });
}

function isAllKnown(names: readonly (string | undefined)[]): names is readonly string[] {
  return names.length > 0 && names.every((name) => name !== undefined);
}

/** One of them, and none of those that are turned round. */
function wantedPaths(from: string, globs: readonly string[]): (path: string) => boolean {
  const all = globs.map((glob) => ({ isInverted: glob.startsWith("!"), matches: fromEither(from, glob) }));
  const [against, asked] = [all.filter((one) => one.isInverted), all.filter((one) => !one.isInverted)];
  return (path) =>
    against.every(({ matches }) => matches(path)) &&
    (asked.length === 0 || asked.some(({ matches }) => matches(path)));
}

/** A glob may be told from the workspace or from the path that is searched: models mean either. */
function fromEither(from: string, glob: string): (path: string) => boolean {
  const matches = globMatcher(glob);
  if (from === "") return matches;
  const below = (found: string): boolean => matches(found.slice(from.length + 1));
  if (glob.startsWith("!")) return (found) => matches(found) && below(found);
  return (found) => matches(found) || below(found);
}
