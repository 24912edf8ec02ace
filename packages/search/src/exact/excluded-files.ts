/** Excluded files: which files of a tree globs leave out, kept up with the tree. */
import { globMatcher } from "../glob.ts";
import type { Asked } from "../grep.ts";
import type { Place } from "../place.ts";
import type { Tree } from "./tree.ts";

/** Lists of globs that are remembered: a session has a few. */
const mostLists = 8;

interface Remembered {
  readonly matches: (path: string) => boolean;
  readonly paths: Set<string>;
}

export class ExcludedFiles {
  readonly #tree: Tree;
  readonly #lists = new Map<string, Remembered>();

  constructor(tree: Tree) {
    this.#tree = tree;
    tree.onPath = (path, isThere) => {
      for (const { matches, paths } of this.#lists.values()) {
        if (!isThere) paths.delete(path);
        else if (matches(path)) paths.add(path);
      }
    };
  }

  /** Files that only `exclude` keeps out. */
  count({ place, sieve, query }: Asked & { readonly place: Place }): number {
    if (!query.exclude?.length) return 0;
    const below = place.path === "" ? "" : `${place.path}/`;
    const { paths } = this.#listOf(query.exclude);
    return [...paths].filter((path) => path.startsWith(below) && sieve.wanted(path)).length;
  }

  #listOf(globs: readonly string[]): Remembered {
    const key = globs.join("\0");
    const known = this.#lists.get(key);
    if (known) return known;
    const excluding = globs.map(globMatcher);
    const matches = (path: string): boolean => excluding.some((one) => one(path));
    const made = { matches, paths: new Set([...this.#tree.files.keys()].filter(matches)) };
    if (this.#lists.size === mostLists) this.#lists.clear();
    this.#lists.set(key, made);
    return made;
  }
}
