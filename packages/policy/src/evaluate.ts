/** Judges a call: rules first (deny beats ask beats allow), then what the mode says; the gravest effect decides. */
import type { Decision, Effect, Facts, PreparedCall, Rule, Verdict } from "@lathe/protocol";
import { byMode } from "./by-mode.ts";
import { matches } from "./match.ts";
import { namedReads } from "./named-reads.ts";

/** What policy looks at in a call. */
export type Judged = Pick<PreparedCall, "effects" | "question">;

/** Whether a call may run; pure. */
export function evaluate(call: Judged, facts: Facts, rules: readonly Rule[]): Decision {
  if (call.question) return { verdict: "allow", rule: "question", why: "a person answers it" };
  const situation = { facts, rules, isCommand: call.effects.some(({ kind }) => kind === "execute") };
  const decisions = call.effects.flatMap((effect) => [
    judgeEffect(effect, situation),
    ...judgeNames(effect, situation),
  ]);
  const [first, ...others] = decisions;
  if (!first) return { verdict: "allow", rule: "no-effects", why: "it touches nothing outside the session" };
  return others.reduce((grave, one) => (gravity[one.verdict] > gravity[grave.verdict] ? one : grave), first);
}

interface Situation {
  readonly facts: Facts;
  readonly rules: readonly Rule[];
  /** Whether the call runs a command, which reaches further than the tools for files. */
  readonly isCommand: boolean;
}

function judgeEffect(effect: Effect, { facts, rules, isCommand }: Situation): Decision {
  const rule = speakingRule(effect, facts, rules);
  const usual = byMode(effect, facts, isCommand);
  // A mode that only reads holds against every rule that would allow more.
  if (!rule || (rule.verdict === "allow" && usual.verdict === "deny")) return usual;
  if (gravity[rule.verdict] < gravity[usual.verdict] && rule.verdict !== "allow") return usual;
  return byRule(rule, effect);
}

/** What its words may name for reading: rules speak of it, and no mode does. */
function judgeNames(effect: Effect, { facts, rules }: Situation): readonly Decision[] {
  return namedReads(effect).flatMap((read) => {
    const rule = speakingRule(read, facts, rules);
    return rule && rule.verdict !== "allow" ? [byRule(rule, read)] : [];
  });
}

function speakingRule(effect: Effect, facts: Facts, rules: readonly Rule[]): Rule | undefined {
  const speaking = rules.filter((rule) => matches(rule, effect, facts));
  return gravestFirst.map((verdict) => speaking.find((one) => one.verdict === verdict)).find(Boolean);
}

function byRule({ name, verdict, why }: Rule, effect: Effect): Decision {
  return { verdict, rule: name, why: `${named(effect)}: ${why ?? `the rule ${name} says so`}` };
}

const gravestFirst: readonly Verdict[] = ["deny", "ask", "allow"];
const gravity: Readonly<Record<Verdict, number>> = { allow: 0, ask: 1, deny: 2 };

function named({ kind, target }: Effect): string {
  const short = target.length > 120 ? `${target.slice(0, 117)}...` : target;
  return `${kind} ${short}`;
}
