/** @lathe/edits: pure text surgery. */
export { applyReplacements, type Replaced, type Replacement } from "./src/apply-replacements.ts";
export { matchFormat } from "./src/match-format.ts";
export { unifiedDiff } from "./src/unified-diff.ts";
