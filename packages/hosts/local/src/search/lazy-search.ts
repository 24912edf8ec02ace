/** Lazy search: the search port, loaded by the first query; its index is stored in the user's cache. */
import { join } from "node:path";
import { unreadable } from "@lathe/policy";
import { type Git, lazily, type Search } from "@lathe/protocol";
import type { EmbeddingSettings, SearchOptions } from "@lathe/search";
import { cacheFolder, type Env } from "@lathe/system";
import { sessionRules } from "../rules/session-rules.ts";
import { confinedReads } from "./confined-reads.ts";

export function createLazySearch(root: string, env: Env, settings?: EmbeddingSettings): Search {
  const search = lazily(async (): Promise<Search> => {
    const { createSearch } = await import("@lathe/search");
    const { lazyEmbedder } = settings ? await import("./open-embedding.ts") : {};
    const index = { ...indexOptions(env, root), ...lazyEmbedder?.(settings, env) };
    return createSearch({ root, index, definitionsOf: lazyDefinitions(), confine: confinedReads(env) });
  });
  return {
    grep: async (query, signal) => (await search()).grep(query, signal),
    files: async (query, signal) => (await search()).files(query, signal),
    rank: async (query, signal) => (await search()).rank(query, signal),
    symbols: async (query, signal) => (await search()).symbols(query, signal),
  };
}

/** The first file of a language loads its grammar. */
function lazyDefinitions(): NonNullable<SearchOptions["definitionsOf"]> {
  const definitions = lazily(async () => (await import("@lathe/syntax/definitions")).createDefinitionsOf());
  return async (path, text) => (await definitions())(path, text);
}

/** No index contains files that usually hold secrets, whatever rules say later. */
export function indexOptions(
  env: Env,
  root: string,
): {
  readonly folder: string;
  readonly never: readonly string[];
  readonly git: Git;
  readonly configHome?: string;
} {
  return {
    folder: join(cacheFolder(env), "index"),
    never: unreadable(".", sessionRules([], { cwd: root, env })),
    git: lazyGit(env),
    ...(env.XDG_CONFIG_HOME && { configHome: env.XDG_CONFIG_HOME }),
  };
}

/** The first query about a history loads it, together with the sandbox. */
function lazyGit(env: Env): Git {
  return {
    open: async (folder) => {
      const { createBoxedGit } = await import("../repository/boxed-git.ts");
      return createBoxedGit(env).open(folder);
    },
  };
}
