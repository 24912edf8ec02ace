/** `permission.decided`: policy, or a person it asked, decided on one call; `ask` means nobody could be asked. */
import * as v from "valibot";
import { updateCall } from "../calls.ts";
import { type Decision, type Effect, effectSchema, verdictSchema } from "../decision.ts";
import type { EventType } from "../event-type.ts";

export interface PermissionDecided {
  readonly call: string;
  readonly effects: readonly Effect[];
  readonly decision: Decision;
}

const schema: v.GenericSchema<unknown, PermissionDecided> = v.object({
  call: v.string(),
  effects: v.array(effectSchema),
  decision: v.object({ verdict: verdictSchema, rule: v.string(), why: v.string() }),
});

export const permissionDecided: EventType<"permission.decided", PermissionDecided> = {
  name: "permission.decided",
  version: 1,
  schema,
  apply: (session, { data: { call, effects, decision } }) => {
    const decided = updateCall(session, call, (state) => ({ ...state, effects, decision }));
    const { turn } = decided;
    if (decision.verdict !== "ask" || !turn) return decided;
    return { ...decided, turn: { ...turn, blocked: decision.why } };
  },
};
