/** `checkpoint.taken`: what the files were before a step that may change them, or after it. */
import * as v from "valibot";
import { type Failure, failureSchema } from "../failure.ts";
import type { EventType } from "../session/event-type.ts";
import { uncover } from "../session/marks.ts";
import type { Kept } from "../session/session.ts";

export interface CheckpointTaken {
  readonly moment: "before" | "after";
  /** Absent when there is none, and then `failure` says why. */
  readonly ref?: string;
  readonly failure?: Failure;
  /** Files and folders that it does not hold. */
  readonly skipped: number;
  readonly ms: number;
}

const schema: v.GenericSchema<unknown, CheckpointTaken> = v.object({
  moment: v.picklist(["before", "after"]),
  ref: v.exactOptional(v.string()),
  failure: v.exactOptional(failureSchema),
  skipped: v.number(),
  ms: v.number(),
});

export const checkpointTaken: EventType<"checkpoint.taken", CheckpointTaken> = {
  name: "checkpoint.taken",
  version: 1,
  schema,
  apply: (session, { data, seq }) => {
    const { moment, ref, failure } = data;
    const { turn, checkpoints, claimed } = session;
    const last = checkpoints.at(-1);
    const kept: Kept = {
      seq,
      moment,
      ...(ref === undefined ? failure && { failure } : { ref }),
      ...(last?.moment === "before" && last.seq < claimed && { unsure: true }),
    };
    return {
      ...session,
      ...(turn && { turn: moment === "before" ? { ...turn, covered: turn.steps } : uncover(turn) }),
      // One that cannot be had here is not asked for at every step.
      ...(failure?.retry === "never" && { uncovered: failure }),
      checkpoints: [...checkpoints, kept],
    };
  },
};
