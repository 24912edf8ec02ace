/** Lazy search: the search port, loaded by the first query. */
import type { Search } from "@lathe/protocol";

export function createLazySearch(root: string): Search {
  let loading: Promise<Search> | undefined;
  const load = async (): Promise<Search> => {
    const { createSearch } = await import("@lathe/search");
    return createSearch({ root });
  };
  const search = (): Promise<Search> => {
    loading ??= load();
    return loading;
  };
  return {
    grep: async (query, signal) => (await search()).grep(query, signal),
    files: async (query, signal) => (await search()).files(query, signal),
  };
}
