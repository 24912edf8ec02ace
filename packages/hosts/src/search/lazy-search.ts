/** Lazy search: the search port, loaded by the first query; its index lies in the user's cache. */
import { join } from "node:path";
import { unreadable } from "@lathe/policy";
import type { Search } from "@lathe/protocol";
import type { SearchOptions } from "@lathe/search";
import type { DefinitionsOf } from "@lathe/syntax/definitions";
import { cacheFolder } from "../places/cache-folder.ts";
import { sessionRules } from "../rules/session-rules.ts";
import { confinedReads } from "./confined-reads.ts";
import type { EmbeddingSettings } from "./embedding-settings.ts";

type Env = Readonly<Record<string, string | undefined>>;

export function createLazySearch(root: string, env: Env, settings?: EmbeddingSettings): Search {
  let loading: Promise<Search> | undefined;
  const load = async (): Promise<Search> => {
    const { createSearch } = await import("@lathe/search");
    const { lazyEmbedder } = settings ? await import("./open-embedding.ts") : {};
    const index = { ...indexOptions(env, root), ...lazyEmbedder?.(settings, env) };
    return createSearch({ root, index, definitionsOf: lazyDefinitions(), confine: confinedReads(env) });
  };
  const search = (): Promise<Search> => {
    loading ??= load();
    return loading;
  };
  return {
    grep: async (query, signal) => (await search()).grep(query, signal),
    files: async (query, signal) => (await search()).files(query, signal),
    rank: async (query, signal) => (await search()).rank(query, signal),
    symbols: async (query, signal) => (await search()).symbols(query, signal),
  };
}

/** Grammars are loaded by the first file that they are asked about. */
function lazyDefinitions(): NonNullable<SearchOptions["definitionsOf"]> {
  let loading: Promise<DefinitionsOf> | undefined;
  return async (path, text) => {
    loading ??= import("@lathe/syntax/definitions").then(({ createDefinitionsOf }) => createDefinitionsOf());
    return (await loading)(path, text);
  };
}

/** Files that usually hold secrets are in no index, whatever rules say later. Git gets only what it needs. */
export function indexOptions(
  env: Env,
  root: string,
): {
  readonly folder: string;
  readonly never: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly configHome?: string;
} {
  const names = ["PATH", "HOME", "LANG", "SystemRoot"] as const;
  const few = names.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]] as const]));
  return {
    folder: join(cacheFolder(env), "index"),
    never: unreadable(".", sessionRules([], { cwd: root, env })),
    env: Object.fromEntries(few),
    ...(env.XDG_CONFIG_HOME && { configHome: env.XDG_CONFIG_HOME }),
  };
}
