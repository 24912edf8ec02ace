/** `experiment.exposed`: the session uses for the first time what an experiment varies. */
import * as v from "valibot";
import type { EventType } from "../session/event-type.ts";
import { type Assignment, momentSchema, sharesSchema } from "../session/experiments.ts";

/** The arm's settings are in the session's settings. */
export type ExperimentExposed = Omit<Assignment, "set">;

const schema: v.GenericSchema<unknown, ExperimentExposed> = v.object({
  experiment: v.string(),
  arm: v.string(),
  shares: sharesSchema,
  definition: v.string(),
  moment: momentSchema,
});

export const experimentExposed: EventType<"experiment.exposed", ExperimentExposed> = {
  name: "experiment.exposed",
  version: 1,
  schema,
  apply: (session, { data }) => ({ ...session, exposed: [...(session.exposed ?? []), data.experiment] }),
};
