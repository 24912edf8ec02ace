/** @lathe/policy: may it run. */
export { commandEffects } from "./src/command-effects.ts";
export { defaultRules, type ExemplaryRule } from "./src/default-rules.ts";
export { evaluate, type Judged } from "./src/evaluate.ts";
export { evaluateGrant } from "./src/evaluate-grant.ts";
export { factsNeeded } from "./src/facts-needed.ts";
export { matchesPath } from "./src/glob.ts";
export { type NetworkRules, networkRules } from "./src/network-rules.ts";
export { unreadable } from "./src/unreadable.ts";
