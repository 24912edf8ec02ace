/** Effort: how much a model that reasons may think before it answers. */
import * as v from "valibot";

/** From the least to the most. A model that has not all of them takes the nearest that it has. */
export const efforts = ["minimal", "low", "medium", "high", "xhigh", "max"] as const;

export type Effort = (typeof efforts)[number];

export const effortSchema: v.GenericSchema<unknown, Effort> = v.picklist(
  efforts,
  `one of ${efforts.join(", ")}`,
);
