/** Judges effects that the sandbox blocked: only a rule that names them, or a person, allows them. */
import type { Decision, Effect, Facts, Rule, Verdict } from "@lathe/protocol";
import { matches } from "../globs/match.ts";
import { refusalDecision } from "./refusals.ts";

const gravestFirst: readonly Verdict[] = ["deny", "ask", "allow"];

/** The strictest decision over effects in the form of grants (absolute paths, hosts); pure. */
export function evaluateGrant(effects: readonly Effect[], facts: Facts, rules: readonly Rule[]): Decision {
  const all = facts.allowed ? [...rules, ...facts.allowed] : rules;
  const decisions = effects.map((effect) => judge(effect, facts, all));
  const found = gravestFirst.map((verdict) => decisions.find((one) => one.verdict === verdict)).find(Boolean);
  return found ?? { verdict: "deny", rule: "sandbox", why: "Nothing to allow" };
}

function judge(effect: Effect, facts: Facts, rules: readonly Rule[]): Decision {
  const what = `${effect.kind} ${effect.target}`;
  if ((facts.mode === "plan" || facts.mode === "read-only") && effect.kind !== "read") {
    return { verdict: "deny", rule: `${facts.mode}-mode`, why: `${what}: this mode stays in the sandbox` };
  }
  const refused = refusalDecision(effect, facts);
  if (refused?.verdict === "deny") return refused;
  const speaking = rules.filter((rule) => speaksOf(rule, effect, facts));
  const rule = gravestFirst.map((verdict) => speaking.find((one) => one.verdict === verdict)).find(Boolean);
  if (rule) {
    return {
      verdict: rule.verdict,
      rule: rule.name,
      why: `${what}: ${rule.why ?? `matches the rule ${rule.name}`}`,
    };
  }
  if (effect.kind === "read")
    return { verdict: "ask", rule: "read-outside", why: `${effect.target} is outside the workspace` };
  return { verdict: "ask", rule: "sandbox", why: `The sandbox blocked ${what}` };
}

/** Write access includes read access, and a grant covers everything below its path. */
function speaksOf(rule: Rule, effect: Effect, facts: Facts): boolean {
  if (rule.verdict === "allow") {
    const wanted: readonly Effect[] =
      effect.kind === "read" ? [effect, { ...effect, kind: "write" }] : [effect];
    return isNarrow(rule) && wanted.some((one) => matches(rule, one, facts));
  }
  const meant: readonly Effect[] = effect.kind === "write" ? [effect, { ...effect, kind: "read" }] : [effect];
  const isPath = effect.kind === "write" || effect.kind === "read";
  return meant.some(
    (one) =>
      matches(rule, one, facts) ||
      (isPath &&
        rule.kinds?.includes(one.kind) !== false &&
        rule.target?.startsWith(`${one.target}/`) === true),
  );
}

/** A broad rule was not made for the world outside the sandbox: it must name a place, or a host. */
function isNarrow({ kinds, target }: Rule): boolean {
  if (!kinds || target === undefined) return false;
  if (kinds.every((kind) => kind === "network"))
    return /^(?:\*\.(?:[\w-]+\.)+)?[\w-]+(?:\.[\w-]+)*(?::\d+)?$/u.test(target);
  return /^\/[^*?{}]+\/|^\/[^*?{}/]+\/[^*?{}/]+$/u.test(target);
}
