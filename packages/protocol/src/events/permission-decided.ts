/** `permission.decided`: policy, or a person it asked, decided on one call; `ask` means nobody could be asked. */
import * as v from "valibot";
import { updateCall } from "../calls.ts";
import { type Decision, type Effect, effectSchema, verdictSchema } from "../decision.ts";
import type { EventType } from "../event-type.ts";
import type { Session } from "../session.ts";

export interface PermissionDecided {
  readonly call: string;
  readonly effects: readonly Effect[];
  readonly decision: Decision;
  /** Of a call that the sandbox kept from these effects: it runs again with them, once or like all that follow. */
  readonly grant?: "call" | "session";
}

const schema: v.GenericSchema<unknown, PermissionDecided> = v.object({
  call: v.string(),
  effects: v.array(effectSchema),
  decision: v.object({ verdict: verdictSchema, rule: v.string(), why: v.string() }),
  grant: v.exactOptional(v.picklist(["call", "session"])),
});

export const permissionDecided: EventType<"permission.decided", PermissionDecided> = {
  name: "permission.decided",
  version: 1,
  schema,
  apply: (session, { data: { call, effects, decision, grant } }) => {
    if (grant) return granted(session, { call, effects, decision, grant });
    const decided = updateCall(session, call, (state) => ({ ...state, effects, decision }));
    const { turn } = decided;
    if (decision.verdict !== "ask" || !turn) return decided;
    return { ...decided, turn: { ...turn, blocked: decision.why } };
  },
};

function granted(session: Session, { call, effects, decision, grant }: Required<PermissionDecided>): Session {
  const again = updateCall(session, call, ({ denied: _, grants = [], ...state }) => ({
    ...state,
    decision,
    grants: [...grants, ...effects],
  }));
  return grant === "session" ? { ...again, grants: [...again.grants, ...effects] } : again;
}
