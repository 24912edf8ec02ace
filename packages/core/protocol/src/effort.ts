/** Effort: how much a reasoning model may think before it answers. */
import * as v from "valibot";

/** From least to most. A model that lacks a level uses the nearest one it has. */
export const efforts = ["minimal", "low", "medium", "high", "xhigh", "max"] as const;

export type Effort = (typeof efforts)[number];

export const effortSchema: v.GenericSchema<unknown, Effort> = v.picklist(
  efforts,
  `one of ${efforts.join(", ")}`,
);
