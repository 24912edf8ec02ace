/** `model.switched`: another model takes over from the next attempt on. */
import * as v from "valibot";
import { type Prompt, promptSchema } from "../prompt.ts";
import type { Circuits } from "../session/circuit.ts";
import type { EventType } from "../session/event-type.ts";

export interface ModelSwitched {
  readonly from: string;
  readonly to: string;
  readonly why: string;
  /**
   * `fault`: the one before could not go on. `recovery`: it has rested, and one attempt is to show whether it is well
   * again. `relapse`: it is not. `stuck`: the planner is asked again. Absent when a person chose.
   */
  readonly because?: "fault" | "recovery" | "relapse" | "stuck";
  /** What it starts from; absent where that is what the one before it had. */
  readonly prompt?: Prompt;
}

const schema: v.GenericSchema<unknown, ModelSwitched> = v.object({
  from: v.string(),
  to: v.string(),
  why: v.string(),
  because: v.exactOptional(v.picklist(["fault", "recovery", "relapse", "stuck"])),
  prompt: v.exactOptional(promptSchema),
});

export const modelSwitched: EventType<"model.switched", ModelSwitched> = {
  name: "model.switched",
  version: 1,
  schema,
  apply: (session, { data }) => {
    const { chosen: _c, ...before } = session;
    const circuits = circuitsAfter(session.circuits, data);
    const switched = { ...before, model: data.to, prompt: data.prompt ?? session.prompt, circuits };
    if (!session.turn) return switched;
    const { retryAt: _r, probing: _p, ...rest } = session.turn;
    const turn = { ...rest, modelFailures: 0 };
    if (data.because === "recovery") return { ...switched, turn: { ...turn, probing: data.from } };
    if (data.because === "stuck") return { ...switched, turn: { ...turn, routedAt: turn.steps } };
    return { ...switched, turn: data.because === "fault" ? { ...turn, handedOver: true } : turn };
  },
};

/** It returns to a model that failover left, but never away from one that a person chose. */
function circuitsAfter(circuits: Circuits, { from, because }: ModelSwitched): Circuits {
  if (because === "recovery") return circuits;
  if (because === undefined || because === "stuck") {
    return Object.fromEntries(Object.entries(circuits).map(([id, { left: _, ...one }]) => [id, one]));
  }
  const left = circuits[from];
  return left ? { ...circuits, [from]: { ...left, left: true } } : circuits;
}
