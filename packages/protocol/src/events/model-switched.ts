/** `model.switched`: another model takes over from the next attempt on. */
import * as v from "valibot";
import type { EventType } from "../event-type.ts";
import { type Prompt, promptSchema } from "../prompt.ts";

export interface ModelSwitched {
  readonly from: string;
  readonly to: string;
  readonly why: string;
  /** What it starts from; absent where that is what the one before it had. */
  readonly prompt?: Prompt;
}

const schema: v.GenericSchema<unknown, ModelSwitched> = v.object({
  from: v.string(),
  to: v.string(),
  why: v.string(),
  prompt: v.exactOptional(promptSchema),
});

export const modelSwitched: EventType<"model.switched", ModelSwitched> = {
  name: "model.switched",
  version: 1,
  schema,
  apply: (session, { data }) => {
    const { chosen: _c, ...rest } = session;
    const switched = { ...rest, model: data.to, prompt: data.prompt ?? session.prompt };
    if (!session.turn) return switched;
    const { retryAt: _r, ...turn } = session.turn;
    return { ...switched, turn: { ...turn, modelFailures: 0 } };
  },
};
