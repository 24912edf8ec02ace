/** Checks the experiments in the user's configuration, and selects those that a command line leaves free. */

import { type ArmSettings, effortSchema, givenLimitsSchema, tuningSchema } from "@lathe/protocol";
import { type Experiment, experimentMetrics } from "@lathe/telemetry/experiments";
import * as v from "valibot";

/** A name appears in tables, files and metrics. */
const name = v.pipe(
  v.string(),
  v.regex(/^[A-Za-z\d][A-Za-z\d._-]{0,39}$/, "a name of at most 40 letters, digits, dots and dashes"),
);
const metric = v.picklist(experimentMetrics, `one of ${experimentMetrics.join(", ")}`);
const model = v.pipe(v.string(), v.minLength(1));

const written = v.strictObject({
  model: v.exactOptional(v.union([model, v.array(model)], "a model id or a list of them")),
  summaryModel: v.exactOptional(model),
  effort: v.exactOptional(effortSchema),
  limits: v.exactOptional(givenLimitsSchema),
  checkpoints: v.exactOptional(v.boolean()),
  profile: v.exactOptional(tuningSchema),
});

const set = v.pipe(
  written,
  v.transform(({ model: chosen, ...others }): ArmSettings => {
    if (chosen === undefined) return others;
    const models = typeof chosen === "string" ? chosen.split(",").map((id) => id.trim()) : chosen;
    return { ...others, models };
  }),
);

const arm = v.strictObject({
  name,
  weight: v.optional(v.pipe(v.number(), v.minValue(0.01), v.maxValue(1000)), 1),
  set: v.optional(set, {}),
});

const leastShare = 0.05;

const experiment = v.pipe(
  v.strictObject({
    name,
    arms: v.pipe(v.array(arm), v.minLength(2, "an experiment needs two arms or more"), v.maxLength(8)),
    metric,
    guardrails: v.optional(v.array(metric), []),
  }),
  v.check(({ arms }) => unique(arms.map((one) => one.name)), "two arms have the same name"),
  v.check(({ arms }) => {
    const total = arms.reduce((sum, { weight }) => sum + weight, 0);
    return arms.every(({ weight }) => weight / total >= leastShare);
  }, "an arm gets less than one session in 20, of which nothing can be found out"),
  v.check(
    ({ arms }) => new Set(arms.map((one) => JSON.stringify(one.set))).size > 1,
    "all arms set the same",
  ),
);

export const experiments: v.GenericSchema<unknown, readonly Experiment[]> = v.pipe(
  v.array(experiment),
  v.check((all) => unique(all.map((one) => one.name)), "two experiments have the same name"),
  v.check((all) => unique(all.flatMap(variedBy)), "two experiments vary the same thing"),
);

function unique(names: readonly string[]): boolean {
  return new Set(names).size === names.length;
}

/** The settings that its arms vary; fields of the profile count one by one. */
function variedBy({ arms }: Experiment): readonly string[] {
  const fields = arms.flatMap((one) =>
    Object.entries(one.set).flatMap(([key, value]) =>
      key === "profile" ? Object.keys(value as object).map((inner) => `profile.${inner}`) : [key],
    ),
  );
  return [...new Set(fields)];
}

/** Leaves out experiments that vary a setting chosen for this session. */
export function leftFree(all: readonly Experiment[], fixed: ReadonlySet<string>): readonly Experiment[] {
  return all.filter((one) => !variedBy(one).some((field) => fixed.has(field)));
}
