/** Judges a call: rules first (deny beats ask beats allow), then what the mode says; the gravest effect decides. */
import type { Decision, Effect, Facts, PreparedCall, Rule, Verdict } from "@lathe/protocol";
import { byMode } from "./by-mode.ts";
import { matches } from "./match.ts";

/** What policy looks at in a call. */
export type Judged = Pick<PreparedCall, "effects" | "question">;

/** Whether a call may run; pure. */
export function evaluate(call: Judged, facts: Facts, rules: readonly Rule[]): Decision {
  if (call.question) return { verdict: "allow", rule: "question", why: "a person answers it" };
  const decisions = call.effects.map((effect) => judgeEffect(effect, facts, rules));
  const [first, ...others] = decisions;
  if (!first) return { verdict: "allow", rule: "no-effects", why: "it touches nothing outside the session" };
  return others.reduce((grave, one) => (gravity[one.verdict] > gravity[grave.verdict] ? one : grave), first);
}

/** What becomes of one effect. */
export function judgeEffect(effect: Effect, facts: Facts, rules: readonly Rule[]): Decision {
  const speaking = rules.filter((rule) => matches(rule, effect, facts));
  const rule = gravestFirst.map((verdict) => speaking.find((one) => one.verdict === verdict)).find(Boolean);
  const usual = byMode(effect, facts);
  // A mode that only reads holds against every rule that would allow more.
  if (!rule || (rule.verdict === "allow" && usual.verdict === "deny")) return usual;
  if (gravity[rule.verdict] < gravity[usual.verdict] && rule.verdict !== "allow") return usual;
  const why = rule.why ?? `the rule ${rule.name} says so`;
  return { verdict: rule.verdict, rule: rule.name, why: `${named(effect)}: ${why}` };
}

const gravestFirst: readonly Verdict[] = ["deny", "ask", "allow"];
const gravity: Readonly<Record<Verdict, number>> = { allow: 0, ask: 1, deny: 2 };

function named({ kind, target }: Effect): string {
  const short = target.length > 120 ? `${target.slice(0, 117)}...` : target;
  return `${kind} ${short}`;
}
