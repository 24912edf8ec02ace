/** Variants: arms of the user's experiments that are assigned to trials instead of drawn. */
import { type Assignment, type Failure, failure, isFailure } from "@lathe/protocol";
import type { Arm, Experiment } from "@lathe/telemetry/experiments";
import { definitionOf, momentOf } from "@lathe/telemetry/experiments";

/** A contestant: a model unchanged, or with a variant's settings. */
export interface Contestant {
  /** Its name in records: the model's id, then a plus and the variant's name. */
  readonly name: string;
  /** A model, a chain of models, `oracle`, or `nop`. */
  readonly model: string;
  readonly variant?: Assignment;
}

/** `named` is `ARM`, `EXPERIMENT/ARM`, or `EXPERIMENT` for all its arms. */
export function contestantsOf(
  models: readonly string[],
  named: readonly string[],
  experiments: readonly Experiment[],
): readonly Contestant[] | Failure {
  if (named.length === 0) return models.map((model) => ({ name: model, model }));
  const found = new Map<string, Assignment>();
  for (const name of named) {
    const some = variantsOf(name, experiments);
    if (isFailure(some)) return some;
    for (const [label, variant] of some) found.set(label, variant);
  }
  const all = models.flatMap((model) => {
    // The task's own solution has no settings.
    if (model === "oracle" || model === "nop") return [{ name: model, model }];
    return [...found].map(([label, variant]) => {
      // A variant that sets a model replaces the contestant's.
      const own = variant.set.models?.join(",") ?? model;
      return { name: `${own}+${label}`, model: own, variant };
    });
  });
  return [...new Map(all.map((one) => [one.name, one])).values()];
}

function variantsOf(
  name: string,
  experiments: readonly Experiment[],
): readonly (readonly [label: string, Assignment])[] | Failure {
  const all = experiments.flatMap((experiment) => experiment.arms.map((arm) => ({ experiment, arm })));
  const matching = all.filter(({ experiment, arm }) =>
    [arm.name, `${experiment.name}/${arm.name}`, experiment.name].includes(name),
  );
  const known = all.map(({ experiment, arm }) => `${experiment.name}/${arm.name}`).join(", ");
  const wrong = (text: string): Failure => failure("invalid-arguments", text, { who: "user" });
  if (matching.length === 0)
    return wrong(
      known === ""
        ? 'there is no variant: "experiments" in your own config.json names them'
        : `there is no variant ${name}; there are ${known}`,
    );
  const inside = new Set(matching.map(({ experiment }) => experiment.name));
  if (inside.size > 1) return wrong(`several experiments have an arm ${name}; say which, of ${known}`);
  const isSeveral = new Set(all.map(({ arm }) => arm.name)).size < all.length;
  return matching.map(({ experiment, arm }) => [
    isSeveral ? `${experiment.name}/${arm.name}` : arm.name,
    assignmentOf(experiment, arm),
  ]);
}

function assignmentOf({ name, arms }: Experiment, arm: Arm): Assignment {
  return {
    experiment: name,
    arm: arm.name,
    shares: { [arm.name]: 1 },
    set: arm.set,
    definition: definitionOf([arm]),
    moment: momentOf(arms),
  };
}
