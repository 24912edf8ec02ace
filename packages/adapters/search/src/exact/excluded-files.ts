/** Excluded files: which files of a tree globs leave out, kept up with the tree. */
import { anyGlobMatcher, type GlobsMatcher } from "../any-glob.ts";
import type { Asked } from "../grep.ts";
import type { Place } from "../place.ts";
import type { Tree } from "./tree.ts";

/** Lists of globs that are remembered: a session has a few. */
const maxLists = 8;

export class ExcludedFiles {
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

  /** Files that only `exclude` keeps out. */
  count({ place, fileFilter, query }: Asked & { readonly place: Place }): number {
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
