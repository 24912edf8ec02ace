/** `experiment.exposed`: what an experiment varies is used for the first time in this session. */
import * as v from "valibot";
import type { EventType } from "../session/event-type.ts";
import { type Assignment, momentSchema, sharesSchema } from "../session/experiments.ts";

/** What the arm sets is in the settings. */
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
