/** Whether a rule speaks of an effect. */
import type { Effect, EffectKind, Facts, Rule } from "@lathe/protocol";
import { matchesPath, matchesText } from "./glob.ts";
import { mayMatch } from "./may-match.ts";

const pathKinds: ReadonlySet<EffectKind> = new Set(["read", "write", "delete"]);

export function isPathEffect({ kind }: Effect): boolean {
  return pathKinds.has(kind);
}

/** A denial matches by any name of a file; permission only by the names that cannot be a link's disguise. */
export function matches(rule: Rule, effect: Effect, facts: Facts): boolean {
  if (rule.kinds && !rule.kinds.includes(effect.kind)) return false;
  const { target } = rule;
  if (target === undefined) return true;
  if (!isPathEffect(effect)) return textNames(effect, rule).some((name) => matchesText(target, name));
  // What a glob will expand to is not known: that it may be meant is enough to deny or ask.
  const isVague = effect.expansion === "glob" && rule.verdict !== "allow";
  const { except } = rule;
  if (except !== undefined && namesOf(effect.target, rule, facts).every((name) => matchesPath(except, name)))
    return false;
  return namesOf(effect.target, rule, facts).some((name) => (isVague ? mayMatch : matchesPath)(target, name));
}

function namesOf(target: string, { verdict }: Rule, { paths }: Facts): readonly string[] {
  const fact = paths[target];
  if (verdict !== "allow") return fact ? [target, fact.real] : [target];
  if (!fact) return [];
  return fact.inside ? [target, fact.real] : [fact.real];
}

/** What is said against a host holds for each of its ports. */
function textNames({ kind, target }: Effect, { verdict }: Rule): readonly string[] {
  return kind === "network" && verdict !== "allow" ? [target, target.replace(/:\d+$/u, "")] : [target];
}
