/** `checkpoint.taken`: the state of the files before or after a step that may change them. */
import * as v from "valibot";
import { type Failure, failureSchema } from "../failure.ts";
import type { RunLaterFile } from "../run-later/why-run-later.ts";
import type { EventType } from "../session/event-type.ts";
import { uncover } from "../session/marks.ts";
import type { CheckpointAttempt, Turn } from "../session/session.ts";

export interface CheckpointTaken {
  readonly moment: "before" | "after";
  /** Absent if the checkpoint failed; then `failure` says why. */
  readonly ref?: string;
  readonly failure?: Failure;
  /** Number of files and folders that it does not hold. */
  readonly skipped: number;
  readonly ms: number;
  /**
   * After a step: files changed in this turn that programs or later sessions run or follow; absent if there
   * are none.
   */
  readonly runLater?: readonly RunLaterFile[];
}

const schema: v.GenericSchema<unknown, CheckpointTaken> = v.object({
  moment: v.picklist(["before", "after"]),
  ref: v.exactOptional(v.string()),
  failure: v.exactOptional(failureSchema),
  skipped: v.number(),
  ms: v.number(),
  runLater: v.exactOptional(v.array(v.object({ path: v.string(), why: v.string() }))),
});

export const checkpointTaken: EventType<"checkpoint.taken", CheckpointTaken> = {
  name: "checkpoint.taken",
  version: 1,
  schema,
  apply: (session, { data, seq }) => {
    const { moment, ref, failure } = data;
    const { turn, checkpoints, claimed } = session;
    const last = checkpoints.at(-1);
    const kept: CheckpointAttempt = {
      seq,
      moment,
      ...(ref === undefined ? failure && { failure } : { ref }),
      ...(last?.moment === "before" && last.seq < claimed && { unsure: true }),
    };
    return {
      ...session,
      ...(turn && {
        turn: moment === "before" ? { ...turn, covered: turn.steps } : afterStep(turn, data),
      }),
      // If checkpoints are impossible here, do not try again at every step.
      ...(failure?.retry === "never" && { uncovered: failure }),
      checkpoints: [...checkpoints, kept],
    };
  },
};

function afterStep(turn: Turn, { ref, runLater }: CheckpointTaken): Turn {
  // Without a checkpoint, nothing is known about the changes.
  if (ref === undefined) return uncover(turn);
  const { runLater: _, ...rest } = uncover(turn);
  return { ...rest, ...(runLater && { runLater }) };
}
