/** Whether a rule speaks of an effect. */
import { type Effect, type EffectKind, type Facts, foldCase, type Rule } from "@lathe/protocol";
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
  const names = namesOf(effect.target, rule, facts).map((name) => cased(name, rule));
  if (except !== undefined && names.every((name) => matchesPath(cased(except, rule), name))) return false;
  return names.some((name) => (isVague ? mayMatch : matchesPath)(cased(target, rule), name));
}

/** As a rule's globs and the names it is held against are compared. */
function cased(text: string, { ignoreCase }: Rule): string {
  return ignoreCase ? foldCase(text) : text;
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
