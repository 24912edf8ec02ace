/**
 * Finds workspace files that git reads settings or programs from, for packages that judge changes to them.
 */

export type { FileState } from "./src/watch/file-state.ts";
export { keptConfig } from "./src/watch/git-config-change.ts";
export { namedBySettings, pointedAt } from "./src/watch/git-folder.ts";
export { repositoryAbove } from "./src/watch/git-guards.ts";
export { repositoryOf, settingsOf } from "./src/watch/repository-of.ts";
