/** The search port on ripgrep. */
import { existsSync, realpathSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import {
  type Failure,
  failure,
  type GrepQuery,
  type GrepResult,
  isFailure,
  type Search,
} from "@lathe/protocol";
import { globMatcher, nameGlob } from "./glob.ts";
import { collectMatches } from "./matches.ts";
import { bundledRipgrep, runRipgrep } from "./ripgrep.ts";

export interface SearchOptions {
  /** An existing folder. */
  readonly root: string;
  /** Another ripgrep than the bundled one. */
  readonly ripgrep?: string;
}

interface Place {
  readonly root: string;
  readonly program: string;
  /** Relative to the root, with `/`. */
  readonly path: string;
}

type FilesQuery = Parameters<Search["files"]>[0];
type FilesResult = Exclude<Awaited<ReturnType<Search["files"]>>, Failure>;

export function createSearch(options: SearchOptions): Search {
  const root = realpathSync.native(options.root);
  const placeOf = async (path = "."): Promise<Place | Failure> => {
    const program = options.ripgrep ?? (await bundledRipgrep());
    if (isFailure(program)) return program;
    const inside = relative(root, resolve(root, path)).replaceAll(sep, "/");
    if (inside === ".." || inside.startsWith("../")) {
      return failure("outside-workspace", `${path} is outside the workspace ${root}.`);
    }
    if (!existsSync(join(root, inside))) return failure("not-found", `${path} does not exist.`);
    return { root, program, path: inside };
  };
  return {
    async grep(query, signal) {
      const place = await placeOf(query.path);
      return isFailure(place) ? place : grep(place, query, signal);
    },
    async files(query, signal) {
      const place = await placeOf(query.path);
      return isFailure(place) ? place : files(place, query, signal);
    },
  };
}

async function grep(place: Place, query: GrepQuery, signal: AbortSignal): Promise<GrepResult | Failure> {
  const matcher = wantedPaths(place, query.glob);
  if (isFailure(matcher)) return matcher;
  const name = query.glob === undefined ? undefined : nameGlob(query.glob);
  const args = [
    "--json",
    "--crlf",
    ...commonArgs(place),
    ...(query.literal ? ["--fixed-strings"] : ["--engine", "auto"]),
    ...(query.ignoreCase ? ["--ignore-case"] : []),
    ...(/\n|\\n/.test(query.pattern) ? ["--multiline"] : []),
    ...(query.context ? ["--context", String(query.context)] : []),
    // Types only narrow what is searched; a name that a type does not know how to say is left to the matcher.
    ...(name === undefined ? [] : ["--type-add", `wanted:${name}`, "--type", "wanted"]),
    "--regexp",
    query.pattern,
    "--",
    place.path === "" ? "./" : `./${place.path}`,
  ];
  const { record, result } = collectMatches(query.limit, matcher);
  const run = { program: place.program, args, cwd: place.root, separator: "\n", signal, record } as const;
  const ended = await runRipgrep(run);
  if (isFailure(ended)) return ended;
  // Exit 2 with a summary means that some files could not be read; without one, that nothing was searched.
  const { summarised, ...found } = result();
  if (ended.code === 2 && !summarised) return badPattern(ended.errors);
  return found;
}

async function files(place: Place, query: FilesQuery, signal: AbortSignal): Promise<FilesResult | Failure> {
  const matcher = wantedPaths(place, query.glob);
  if (isFailure(matcher)) return matcher;
  const paths: string[] = [];
  let more = false;
  const args = [
    "--files",
    "--null",
    ...commonArgs(place),
    "--",
    place.path === "" ? "./" : `./${place.path}`,
  ];
  const record = (printed: string): boolean => {
    const path = printed.replaceAll("\\", sep === "\\" ? "/" : "\\").replace(/^\.\//, "");
    if (!matcher(path)) return true;
    more = paths.length >= query.limit;
    if (!more) paths.push(path);
    return !more;
  };
  const run = { program: place.program, args, cwd: place.root, separator: "\0", signal, record } as const;
  const ended = await runRipgrep(run);
  return isFailure(ended) ? ended : { paths, more };
}

function commonArgs({ root, path }: Place): readonly string[] {
  const sorted = ["--no-config", "--hidden", "--sort", "path", "--glob", "!.git"];
  if (isInRepository(root)) return sorted;
  // Outside a repository parent folders have no say: a home folder kept in git often ignores everything.
  const above = path !== "" && existsSync(join(root, ".gitignore")) ? ["--ignore-file", ".gitignore"] : [];
  return [...sorted, "--no-require-git", "--no-ignore-parent", ...above];
}

function isInRepository(folder: string): boolean {
  if (existsSync(join(folder, ".git"))) return true;
  return dirname(folder) !== folder && isInRepository(dirname(folder));
}

/** A glob may be told from the workspace or from the path that is searched: models mean either. */
function wantedPaths({ path }: Place, glob: string | undefined): ((path: string) => boolean) | Failure {
  if (glob === undefined) return () => true;
  try {
    const matches = globMatcher(glob);
    if (path === "") return matches;
    const below = (found: string): boolean => matches(found.slice(path.length + 1));
    if (glob.startsWith("!")) return (found) => matches(found) && below(found);
    return (found) => matches(found) || below(found);
  } catch (error) {
    return failure("search-failed", `${glob} is not a valid glob.`, { cause: error });
  }
}

function badPattern(errors: string): Failure {
  const text = errors
    .replaceAll(/\s*\n\s*/g, " ")
    .trim()
    .slice(0, 400);
  return failure("search-failed", `${text || "ripgrep failed"} (set literal to search for plain text)`);
}
