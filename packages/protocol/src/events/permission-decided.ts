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
import type { Session } from "../session.ts";

export interface PermissionDecided {
  readonly call: string;
  readonly effects: readonly Effect[];
  readonly decision: Decision;
  /** Of a call that the sandbox kept from these effects: it runs again with them, once or like all that follow. */
  readonly grant?: "call" | "session";
  /** What it refuses for the rest of the session: a person's no. */
  readonly refused?: readonly Refusal[];
}

const remembered = 100;

const schema: v.GenericSchema<unknown, PermissionDecided> = v.object({
  call: v.string(),
  effects: v.array(effectSchema),
  decision: v.object({ verdict: verdictSchema, rule: v.string(), why: v.string() }),
  grant: v.exactOptional(v.picklist(["call", "session"])),
  refused: v.exactOptional(v.array(refusalSchema)),
});

export const permissionDecided: EventType<"permission.decided", PermissionDecided> = {
  name: "permission.decided",
  version: 1,
  schema,
  apply: (before, { data: { call, effects, decision, grant, refused = [] } }) => {
    const isPersons = decision.rule === "person" && decision.verdict === "allow";
    const kept = isPersons ? before.refusals.filter((one) => !isAllowed(one, effects)) : before.refusals;
    const session = {
      ...before,
      refusals: [...kept, ...refused].slice(-remembered),
      grants: before.grants.filter((one) => !refused.some((refusal) => isSame(refusal, one))),
    };
    if (grant) return granted(session, { call, effects, decision, grant });
    const decided = updateCall(session, call, (state) => ({ ...state, effects, decision }));
    const { turn } = decided;
    if (decision.verdict !== "ask" || !turn) return decided;
    return { ...decided, turn: { ...turn, blocked: decision.why } };
  },
};

function granted(
  session: Session,
  {
    call,
    effects,
    decision,
    grant,
  }: Omit<PermissionDecided, "refused"> & { readonly grant: "call" | "session" },
): Session {
  const again = updateCall(session, call, ({ denied: _, grants = [], ...state }) => ({
    ...state,
    decision,
    grants: [...grants, ...effects],
  }));
  return grant === "session" ? { ...again, grants: [...again.grants, ...effects] } : again;
}

/** A person's yes to the same thing lifts an earlier no. */
function isAllowed(refusal: Refusal, effects: readonly Effect[]): boolean {
  return effects.some((effect) => isSame(refusal, effect));
}

function isSame(refusal: Refusal, { kind, target }: Effect): boolean {
  return refusal.kind === kind && refusal.target === target;
}
