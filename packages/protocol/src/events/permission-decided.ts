/** `permission.decided`: policy, or a person it asked, decided on one call; `ask` means nobody could be asked. */
import * as v from "valibot";
import { updateCall } from "../calls.ts";
import {
  type Decision,
  type Effect,
  effectSchema,
  type Refusal,
  refusalSchema,
  verdictSchema,
} from "../decision.ts";
import type { EventType } from "../event-type.ts";

export interface PermissionDecided {
  readonly call: string;
  readonly effects: readonly Effect[];
  readonly decision: Decision;
  /** What it refuses for the rest of the session: a person's no. */
  readonly refused?: readonly Refusal[];
}

const remembered = 100;

const schema: v.GenericSchema<unknown, PermissionDecided> = v.object({
  call: v.string(),
  effects: v.array(effectSchema),
  decision: v.object({ verdict: verdictSchema, rule: v.string(), why: v.string() }),
  refused: v.exactOptional(v.array(refusalSchema)),
});

export const permissionDecided: EventType<"permission.decided", PermissionDecided> = {
  name: "permission.decided",
  version: 1,
  schema,
  apply: (before, { data: { call, effects, decision, refused = [] } }) => {
    const isPersons = decision.rule === "person" && decision.verdict === "allow";
    const kept = isPersons ? before.refusals.filter((one) => !isAllowed(one, effects)) : before.refusals;
    const session = { ...before, refusals: [...kept, ...refused].slice(-remembered) };
    const decided = updateCall(session, call, (state) => ({ ...state, effects, decision }));
    const { turn } = decided;
    if (decision.verdict !== "ask" || !turn) return decided;
    return { ...decided, turn: { ...turn, blocked: decision.why } };
  },
};

/** A person's yes to the same thing lifts an earlier no. */
function isAllowed({ kind, target }: Refusal, effects: readonly Effect[]): boolean {
  return effects.some((effect) => effect.kind === kind && effect.target === target);
}
