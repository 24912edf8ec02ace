/** @lathe/overlays: copy-on-write views of a folder, called forks. */

export { copyLayers } from "./src/copy-layers.ts";
export { type Difference, differencesOf, layerDifferences, type Side } from "./src/differences.ts";
export { enterArgs } from "./src/enter-fork.ts";
export { holdFork } from "./src/hold-fork.ts";
