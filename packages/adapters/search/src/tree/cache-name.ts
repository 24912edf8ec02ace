/** Cache name: the name of a repository's folder in the user's cache. */
import { createHash } from "node:crypto";
import { basename, dirname } from "node:path";
import { wordsVersion } from "../words/words.ts";
import type { Repository } from "./git-index.ts";

/** The same for all worktrees of a repository. */
export function cacheName(root: string, repository: Repository | undefined): string {
  const owner = repository?.common ?? root;
  const called = basename(repository ? dirname(owner) : owner);
  return `${called}-${shortHash(owner)}`.replaceAll(/[^\w.-]/g, "_");
}

export function shortHash(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}

/** The folder of ranked search. */
export function rankedFolder(root: string, repository: Repository | undefined): string {
  return `v${wordsVersion}-${cacheName(root, repository)}`;
}
