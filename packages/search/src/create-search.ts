/** The search port on ripgrep. */
import { existsSync, realpathSync } from "node:fs";
import { join, relative, resolve, sep } from "node:path";
import {
  type Failure,
  type FilesQuery,
  type FilesResult,
  failure,
  isFailure,
  type Search,
} from "@lathe/protocol";
import { grep } from "./grep.ts";
import { filesArgs, type Place } from "./place.ts";
import { bundledRipgrep, runRipgrep } from "./ripgrep.ts";
import { type Sieve, sieveOf } from "./sieve.ts";

export interface SearchOptions {
  /** An existing folder. */
  readonly root: string;
  /** Another ripgrep than the bundled one. */
  readonly ripgrep?: string;
}

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
      if (isFailure(place)) return place;
      const sieve = sieveOf(place.path, query);
      if (isFailure(sieve)) return sieve;
      const counting = leftOutOf(place, { sieve, query }, signal);
      const found = await grep(place, { sieve, query }, signal);
      return isFailure(found) ? found : { ...found, leftOut: await counting };
    },
    async files(query, signal) {
      const place = await placeOf(query.path);
      return isFailure(place) ? place : files(place, query, signal);
    },
  };
}

async function files(place: Place, query: FilesQuery, signal: AbortSignal): Promise<FilesResult | Failure> {
  const sieve = sieveOf(place.path, query);
  if (isFailure(sieve)) return sieve;
  const paths: string[] = [];
  let leftOut = 0;
  let more = false;
  const args = ["--sort", "path", ...filesArgs(place)];
  const record = (printed: string): boolean => {
    const path = toPath(printed);
    if (!sieve.wanted(path)) return true;
    if (sieve.excluded(path)) {
      leftOut++;
      return true;
    }
    more = paths.length >= query.limit;
    if (!more) paths.push(path);
    return !more;
  };
  const run = { program: place.program, args, cwd: place.root, separator: "\0", signal, record } as const;
  const ended = await runRipgrep(run);
  return isFailure(ended) ? ended : { paths, more, leftOut };
}

/**
 * Counted apart from the search: were it the files with a match, a pattern could ask a file for what it holds.
 * Zero when it cannot be counted.
 */
async function leftOutOf(
  place: Place,
  { sieve, query }: { readonly sieve: Sieve; readonly query: FilesQuery },
  signal: AbortSignal,
): Promise<number> {
  if (!query.exclude?.length) return 0;
  let leftOut = 0;
  const record = (printed: string): boolean => {
    const path = toPath(printed);
    if (sieve.wanted(path) && sieve.excluded(path)) leftOut++;
    return true;
  };
  const args = filesArgs(place);
  await runRipgrep({ program: place.program, args, cwd: place.root, separator: "\0", signal, record });
  return leftOut;
}

function toPath(printed: string): string {
  return printed.replaceAll("\\", sep === "\\" ? "/" : "\\").replace(/^\.\//, "");
}
