/** Tool context: what one call reaches, and what it may know of the session. */
import type { Amid } from "@lathe/orchestrator";
import { sealedTargets, unreadable } from "@lathe/policy";
import type { Effect, Session, Shown, ToolContext } from "@lathe/protocol";
import { type AgentPorts, type KinHold, noKin } from "./agent.ts";

export interface CallContext {
  readonly call: string;
  readonly session: Pick<Session, "shown" | "todos" | "calls" | "grants" | "refusals"> & {
    readonly settings: Pick<Session["settings"], "mode">;
  };
  readonly amid: Amid;
  /** Of a session. */
  readonly more?: Pick<ToolContext, "judge" | "isAllowed" | "widensReads">;
}

export function toolContext(ports: AgentPorts, { call, session, amid, more }: CallContext): ToolContext {
  const { workspace, sandbox, search, syntax, blobs, texts, clock } = ports;
  const state = session.calls.find((one) => one.call.id === call);
  const above = ports.kin?.() ?? noKin;
  return {
    workspace,
    sandbox,
    search,
    syntax,
    blobs,
    texts,
    redact: (text) => ports.redact(text),
    redaction: () => ports.redaction(),
    ...amid,
    ...more,
    ...(state?.child !== undefined && { child: state.child }),
    ...(state?.part && { part: state.part }),
    now: () => clock.now(),
    delta: (delta) => ports.onDelta({ ...delta, call }),
    shown: (path) => [...(session.shown[path] ?? []), ...shownInAnswer(session, path)],
    todos: session.todos,
    grants: grantsOf(call, session, above),
    sealed: sealedTargets([...above.refusals, ...session.refusals], state),
    unreadable: (path) => unreadable(path, ports.rules),
  };
}

/** What calls of the same answer have shown: the next one stands on it, though the model has not read it yet. */
function shownInAnswer({ calls }: Pick<Session, "calls">, path: string): readonly Shown[] {
  return calls.flatMap(({ outcome }) => {
    const shown = outcome?.type === "ok" ? (outcome.facts?.shown ?? []) : [];
    return shown.filter((one) => one.path === path);
  });
}

/** A mode that only reads may read what was granted, and no more. */
function grantsOf(
  call: string,
  { calls, grants, settings }: CallContext["session"],
  above: KinHold,
): readonly Effect[] {
  const all = [...above.grants, ...grants, ...(calls.find((one) => one.call.id === call)?.grants ?? [])];
  const onlyReads = settings.mode === "plan" || settings.mode === "read-only";
  return onlyReads ? all.filter(({ kind }) => kind === "read") : all;
}
