/** Checks a rule against its own examples: what it must match, and what it must not. */
import { type Effect, type EffectKind, effectKinds, type Rule } from "@lathe/protocol";
import { isPathEffect, matches } from "../globs/match.ts";

/** Each example is `KIND:TARGET`, or a command. */
export interface RuleExamples {
  readonly matches?: readonly string[];
  readonly ignores?: readonly string[];
}

/** The first example that fails, in one sentence; undefined if none does. */
export function brokenExample(rule: Rule, examples: RuleExamples): string | undefined {
  const missed = examples.matches?.find((text) => !speaksOf(rule, text));
  if (missed !== undefined) return `the rule ${rule.name} does not match its example "${missed}"`;
  const caught = examples.ignores?.find((text) => speaksOf(rule, text));
  return caught === undefined
    ? undefined
    : `the rule ${rule.name} matches "${caught}", which it should ignore`;
}

function speaksOf(rule: Rule, text: string): boolean {
  const effect = effectOf(text);
  const paths = isPathEffect(effect) ? { [effect.target]: { real: effect.target, inside: true } } : {};
  return matches(rule, effect, { mode: "auto", containment: "full", uncontainedAllowed: false, paths });
}

const kinds: readonly EffectKind[] = effectKinds;

function effectOf(text: string): Effect {
  const at = text.indexOf(":");
  const kind = kinds.find((one) => one === text.slice(0, at));
  return kind ? { kind, target: text.slice(at + 1) } : { kind: "execute", target: text };
}
