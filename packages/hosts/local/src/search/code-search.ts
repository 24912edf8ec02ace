/** Code search outside any session: ranked and exact, under the built-in rules on reading. */
import { realpathSync } from "node:fs";
import { unreadable } from "@lathe/policy";
import { type Failure, failure, type Search } from "@lathe/protocol";
import type { EmbeddingSettings } from "@lathe/search";
import { createSearch } from "@lathe/search";
import { type IndexState, openCodeIndex } from "@lathe/search/code-index";
import type { Env } from "@lathe/system";
import { sessionRules } from "../rules/session-rules.ts";
import { confinedReads } from "./confined-reads.ts";
import { indexOptions } from "./lazy-search.ts";

export interface CodeSearch {
  readonly search: Search;
  /** Globs of files that are not searched. */
  readonly exclude: readonly string[];
}

export interface CodeSearchOptions {
  /** Milliseconds to wait for an index before ripgrep answers instead. */
  readonly patienceMs: number;
  readonly embeddings?: EmbeddingSettings;
  /** There will be one query only: the index is not kept up to date for more. */
  readonly isOneShot: boolean;
}

export async function openCodeSearch(
  folder: string,
  env: Env,
  { patienceMs, embeddings, isOneShot }: CodeSearchOptions,
): Promise<CodeSearch | Failure> {
  const root = folderOf(folder);
  if (typeof root !== "string") return root;
  const { lazyEmbedder } = embeddings ? await import("./open-embedding.ts") : {};
  const index = {
    ...indexOptions(env, root),
    patienceMs,
    isOneShot,
    ...lazyEmbedder?.(embeddings, env),
  };
  const search = createSearch({ root, index, confine: confinedReads(env) });
  return { search, exclude: unreadable(".", sessionRules([], { cwd: root, env })) };
}

/** *Contract:* resolves when everything is indexed; `onProgress` is called with files done and files in all. */
export async function buildIndex(
  folder: string,
  env: Env,
  onProgress: (done: number, total: number) => void,
): Promise<IndexState | Failure> {
  const root = folderOf(folder);
  if (typeof root !== "string") return root;
  return openCodeIndex(root, { ...indexOptions(env, root), confine: confinedReads(env), onProgress });
}

function folderOf(folder: string): string | Failure {
  try {
    return realpathSync.native(folder);
  } catch (cause) {
    return failure("not-found", `${folder} does not exist: name a folder that does.`, { who: "user", cause });
  }
}
