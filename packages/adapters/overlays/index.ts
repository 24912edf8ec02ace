/** @lathe/overlays: copy-on-write views of a folder, called forks. */

export { type CopiedLayers, copyLayers } from "./src/copy-layers.ts";
export { differencesOf, layerDifferences } from "./src/differences.ts";
export { enterArgs } from "./src/enter-fork.ts";
export type { ForkHost } from "./src/fork-host.ts";
export { holdFork } from "./src/hold-fork.ts";
