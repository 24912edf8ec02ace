/** @lathe/policy: may it run. */
export { type CommandEffects, commandEffects, type Part } from "./src/command-effects.ts";
export { defaultRules, type ExemplaryRule } from "./src/default-rules.ts";
export { evaluate, type Judged, judgements, refusalsOf } from "./src/evaluate.ts";
export { evaluateGrant } from "./src/evaluate-grant.ts";
export {
  type EffectClass,
  type ExplainedEffect,
  type ExplainedPart,
  type Explanation,
  explain,
} from "./src/explain.ts";
export { factsNeeded } from "./src/facts-needed.ts";
export { matchesPath } from "./src/glob.ts";
export { isLeftOpen } from "./src/is-left-open.ts";
export { isWanting, type Known } from "./src/known.ts";
export { type NetworkRules, networkRules } from "./src/network-rules.ts";
export { proposeGrantRules, proposeRules } from "./src/propose-rules.ts";
export { readScript } from "./src/read-script.ts";
export { brokenExample, type RuleExamples } from "./src/rule-examples.ts";
export type { Script } from "./src/script.ts";
export { sealedTargets } from "./src/sealed-targets.ts";
export { unreadable } from "./src/unreadable.ts";
