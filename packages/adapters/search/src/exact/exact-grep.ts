/** Exact grep: runs ripgrep only on files that may match, if they are known and few; else on all. */
import { statSync } from "node:fs";
import { join } from "node:path";
import { type Failure, type GrepQuery, type GrepResult, isFailure } from "@lathe/protocol";
import { anyGlobMatcher, type GlobsMatcher } from "../any-glob.ts";
import { mayLackFiles, whyNoFiles } from "../files-asked-for.ts";
import { globMatcher } from "../glob.ts";
import { type GrepRequest, grep } from "../grep.ts";
import { inOrder, type Place } from "../place.ts";
import { defaultQuota } from "../segments/segment-cache.ts";
import { repositoryOf } from "../tree/git-index.ts";
import { worthAnIndex } from "./build-exact-index.ts";
import { ExactIndex, type ExactOptions } from "./exact-index.ts";
import { filesHolding } from "./files-holding.ts";
import type { FollowedTree } from "./followed-tree.ts";
import { planOfPattern } from "./pattern.ts";
import type { Tree } from "./tree.ts";

/** Maximum cached lists of globs: a session has a few. */
const maxLists = 8;

/** Excluded files: the files of a tree that globs exclude, kept up to date. */
class ExcludedFiles {
  readonly #tree: Tree;
  readonly #lists = new Map<GlobsMatcher, Set<string>>();

  constructor(tree: Tree) {
    this.#tree = tree;
    tree.onPath = (path, isThere) => {
      for (const [matches, paths] of this.#lists) {
        if (!isThere) paths.delete(path);
        else if (matches(path)) paths.add(path);
      }
    };
  }

  /** Counts files that only `exclude` excludes. */
  count({ place, fileFilter, query }: GrepRequest & { readonly place: Place }): number {
    if (!query.exclude?.length) return 0;
    const below = place.path === "" ? "" : `${place.path}/`;
    const paths = this.#pathsOf(query.exclude);
    return [...paths].filter((path) => path.startsWith(below) && fileFilter.wanted(path)).length;
  }

  #pathsOf(globs: readonly string[]): ReadonlySet<string> {
    // The same for the same globs.
    const matches = anyGlobMatcher(globs);
    const known = this.#lists.get(matches);
    if (known) return known;
    const paths = new Set([...this.#tree.files.keys()].filter(matches));
    if (this.#lists.size === maxLists) this.#lists.clear();
    this.#lists.set(matches, paths);
    return paths;
  }
}

export type ExactGrepOptions = Pick<ExactOptions, "folder" | "mayIndex"> & Partial<ExactOptions>;

/** `leftOut` returns the number of excluded files if it is known; else they are counted. */
export type Search = (signal: AbortSignal, leftOut?: () => number) => Promise<GrepResult | Failure>;

export interface ExactGrep {
  /** *Contract:* the same result as `search`, which runs ripgrep on everything. */
  grep(
    asked: GrepRequest & { readonly place: Place },
    search: Search,
    signal: AbortSignal,
  ): Promise<GrepResult | Failure>;
  /** Changes in the tree. */
  readonly followed: Pick<FollowedTree, "changes" | "keepUp">;
  /** *Contract:* resolves once background work is done. */
  settled(): Promise<void>;
  /** Stops hearing of changes. */
  close(): void;
}

/** Maximum bytes of file names in one command. */
const maxArguments = process.platform === "win32" ? 24_000 : 900_000;
const nothing = { lines: [], more: false, skipped: [], binary: [], unsearched: [] } as const;

export function openExactGrep(place: Place, options: ExactGrepOptions): ExactGrep {
  const index = new ExactIndex(place, { quota: defaultQuota, fromFiles: worthAnIndex, ...options });
  const excluded = new ExcludedFiles(index.tree);
  const isRepository = repositoryOf(place.root) !== undefined;
  return {
    async grep(asked, search, signal) {
      if (!isWhole(asked.place, isRepository)) return search(signal);
      const plan = planOfPattern(asked.query);
      const isHeard = await index.followed.now();
      const known = isHeard && plan.type !== "any" ? index.candidates(plan) : undefined;
      const isThere = isHeard && index.tree.hasBelow(asked.place.path);
      const candidates = known && isThere ? candidatesOf(known, asked) : undefined;
      const leftOut = (): number => excluded.count(asked);
      const within = async (all: readonly string[]): Promise<GrepResult | Failure> => {
        const paths = filesHolding(place.root, all, asked.query);
        // Only ripgrep can report a bad pattern; a plain text is never bad.
        const isNowhere = paths.length === 0 && asked.query.literal === true;
        const found = isNowhere ? nothing : await grep(asked.place, { ...asked, candidates: paths }, signal);
        if (isFailure(found)) return found;
        const isLacking =
          found.lines.length === 0 && mayLackFiles(asked.place, asked.query) && !hasWanted(index, asked);
        const noFiles = isLacking && (await whyNoFiles(asked.place, asked.fileFilter, signal));
        return { ...found, leftOut: leftOut(), ...(noFiles && { noFiles }) };
      };
      const found = await (candidates ? within(candidates) : search(signal, isThere ? leftOut : undefined));
      // Only now, so that it takes no time from this search.
      void index.settle();
      return found;
    },
    settled: () => index.settle(),
    followed: index.followed,
    close: () => index.followed.close(),
  };
}

/** Whether a listing from the root shows which files a search in this folder covers. */
function isWhole({ root, path }: Place, isRepository: boolean): boolean {
  if (path === "") return true;
  return isRepository && statSync(join(root, path), { throwIfNoEntry: false })?.isDirectory() === true;
}

function hasWanted(
  { tree }: ExactIndex,
  { place, fileFilter }: GrepRequest & { readonly place: Place },
): boolean {
  const below = place.path === "" ? "" : `${place.path}/`;
  return tree.files.keys().some((path) => path.startsWith(below) && fileFilter.wanted(path));
}

/** The requested candidates, in ripgrep's order; undefined if they are too many for a command. */
function candidatesOf(
  paths: readonly string[],
  { place, fileFilter, query }: GrepRequest & { readonly place: Place },
): readonly string[] | undefined {
  const below = place.path === "" ? "" : `${place.path}/`;
  const closed = closedBy(query);
  const asked = paths.filter(
    (path) =>
      path.startsWith(below) && fileFilter.wanted(path) && !fileFilter.excluded(path) && !closed(path),
  );
  const size = asked.reduce((sum, path) => sum + Buffer.byteLength(path) + 3, 0);
  if (size > maxArguments) return undefined;
  return inOrder(asked);
}

/** Ripgrep does not enter a folder that a glob excludes. */
function closedBy({ exclude = [] }: GrepQuery): (path: string) => boolean {
  const matchers = exclude.map(globMatcher);
  const known = new Map<string, boolean>();
  const isClosed = (folder: string): boolean => {
    const before = known.get(folder);
    if (before !== undefined) return before;
    const above = folder.lastIndexOf("/");
    const closed =
      matchers.some((matches) => matches(folder)) || (above >= 0 && isClosed(folder.slice(0, above)));
    known.set(folder, closed);
    return closed;
  };
  return (path) => path.includes("/") && isClosed(path.slice(0, path.lastIndexOf("/")));
}
