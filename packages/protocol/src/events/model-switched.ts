/** `model.switched`: another model of the chain takes over from the next attempt on. */
import * as v from "valibot";
import type { EventType } from "../event-type.ts";

export interface ModelSwitched {
  readonly from: string;
  readonly to: string;
  readonly why: string;
}

const schema: v.GenericSchema<unknown, ModelSwitched> = v.object({
  from: v.string(),
  to: v.string(),
  why: v.string(),
});

export const modelSwitched: EventType<"model.switched", ModelSwitched> = {
  name: "model.switched",
  version: 1,
  schema,
  apply: (session, { data }) => {
    if (!session.turn) return { ...session, model: data.to };
    const { retryAt: _, ...turn } = session.turn;
    return { ...session, model: data.to, turn: { ...turn, modelFailures: 0 } };
  },
};
