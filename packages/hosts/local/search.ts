/** @lathe/hosts/search: search over a folder of this machine, with its index. */
export { projectFiles } from "./src/places/project-files.ts";
export {
  buildIndex,
  type CodeSearch,
  type CodeSearchOptions,
  openCodeSearch,
} from "./src/search/code-search.ts";
export { planTree } from "./src/search/embeddings.ts";
