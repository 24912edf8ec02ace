/** Tool context: what one call reaches, and what it may know of the session. */
import { unreadable } from "@lathe/policy";
import type { Effect, Session, Shown, ToolContext } from "@lathe/protocol";
import type { AgentPorts } from "./agent.ts";

export interface CallContext {
  readonly call: string;
  readonly session: Pick<Session, "shown" | "todos" | "calls" | "grants">;
  readonly signal: AbortSignal;
}

export function toolContext(ports: AgentPorts, { call, session, signal }: CallContext): ToolContext {
  const { workspace, sandbox, search, syntax, blobs, texts, clock } = ports;
  return {
    workspace,
    sandbox,
    search,
    syntax,
    blobs,
    texts,
    redact: (text) => ports.redact(text),
    signal,
    now: () => clock.now(),
    delta: (delta) => ports.onDelta({ ...delta, call }),
    shown: (path) => [...(session.shown[path] ?? []), ...shownInAnswer(session, path)],
    todos: session.todos,
    grants: grantsOf(call, session),
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

/** What a call was allowed to do elsewhere, the sandbox must let it do. */
function grantsOf(call: string, { calls, grants }: Pick<Session, "calls" | "grants">): readonly Effect[] {
  const state = calls.find((one) => one.call.id === call);
  const allowed = state?.decision?.verdict === "allow" ? state.effects.filter(isElsewhere) : [];
  return [...grants, ...(state?.grants ?? []), ...allowed];
}

function isElsewhere({ kind, target, expansion, traits = [] }: Effect): boolean {
  if (kind === "network") return traits.includes("named");
  return (kind === "write" || kind === "delete") && target.startsWith("/") && expansion === undefined;
}
