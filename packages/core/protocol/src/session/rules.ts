/** Rules that a person made for the rest of a session. */
import type { Rule } from "../decision.ts";

const remembered = 100;

/** The latest rules, up to a limit. */
export function rememberedRules(rules: readonly Rule[]): readonly Rule[] {
  return rules.slice(-remembered);
}
