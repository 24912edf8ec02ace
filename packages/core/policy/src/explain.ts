/** Explains a command: the verdict on it and on each part, in words that people and programs can rely on. */
import type { Decision, Effect, Facts, Rule } from "@lathe/protocol";
import type { Part } from "./command-effects.ts";
import { isPathEffect } from "./globs/match.ts";
import { evaluate, judgeEffects } from "./rules/evaluate.ts";
import { proposeRules } from "./rules/propose-rules.ts";

/** Classes of effects, in the order of the explanation. */
const effectClasses = [
  "reads",
  "writes",
  "deletes",
  "executes",
  "executes-project-code",
  "network",
  "vcs-local",
  "vcs-shared",
  "vcs-history",
  "process",
  "mcp",
  "privilege",
  "outside",
  "irreversible",
  "undecided",
] as const;

export type EffectClass = (typeof effectClasses)[number];

export interface ExplainedEffect extends Effect, Decision {}

export interface ExplainedPart extends Decision {
  readonly command: string;
  readonly classes: readonly EffectClass[];
  readonly effects: readonly ExplainedEffect[];
}

export interface Explanation extends Decision {
  readonly classes: readonly EffectClass[];
  readonly parts: readonly ExplainedPart[];
  /** The narrowest rules that would allow it without asking; empty if none can. */
  readonly proposed: readonly Rule[];
}

export function explain(parts: readonly Part[], facts: Facts, rules: readonly Rule[]): Explanation {
  const effects = parts.flatMap((part) => part.effects);
  const explained = parts
    .filter((part) => part.effects.some(({ traits = [] }) => !traits.includes("possible")))
    .map((part) => explainPart(part, facts, rules));
  const classes = new Set(explained.flatMap((part) => part.classes));
  return {
    ...evaluate({ effects }, facts, rules),
    classes: effectClasses.filter((one) => classes.has(one)),
    parts: explained,
    proposed: proposeRules(effects, facts, rules),
  };
}

function explainPart({ command, effects }: Part, facts: Facts, rules: readonly Rule[]): ExplainedPart {
  const judged = judgeEffects(effects, facts, rules);
  const classes = new Set(judged.flatMap(({ effect, decision }) => classesOf(effect, decision, facts)));
  if (effects.some(readsFiles)) classes.add("reads");
  return {
    command,
    ...evaluate({ effects }, facts, rules),
    classes: effectClasses.filter((one) => classes.has(one)),
    effects: judged.map(({ effect, decision }) => ({ ...effect, ...decision })),
  };
}

/** Words that may name files are mentioned only if they look like it. */
function readsFiles({ names = [], traits = [] }: Effect): boolean {
  return names.some((name) => traits.includes("read-only") || /[./]/u.test(name));
}

const byKind: Readonly<Record<Effect["kind"], EffectClass>> = {
  read: "reads",
  write: "writes",
  delete: "deletes",
  execute: "executes",
  network: "network",
  vcs: "vcs-local",
  process: "process",
  mcp: "mcp",
};

function classesOf(effect: Effect, { rule }: Decision, { paths }: Facts): readonly EffectClass[] {
  const { kind, target, traits = [], expansion } = effect;
  const classes: EffectClass[] = [];
  if (kind !== "vcs" || !traits.includes("shared")) classes.push(byKind[kind]);
  if (traits.includes("project-code")) classes.push("executes-project-code");
  if (traits.includes("shared") && kind === "vcs") classes.push("vcs-shared");
  if (traits.includes("history")) classes.push("vcs-history");
  if (traits.includes("privilege")) classes.push("privilege");
  const isOutside = isPathEffect(effect) && expansion !== "unknown" && paths[target]?.inside === false;
  if (isOutside && kind !== "read") classes.push("outside");
  if (traits.includes("irreversible") || /-unsaved$|^delete-outside$|^discards-work$/u.test(rule))
    classes.push("irreversible");
  if (expansion === "unknown") classes.push("undecided");
  return classes;
}
