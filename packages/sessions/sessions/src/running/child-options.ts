/** Child options: what a subagent's session runs with; nothing in it is wider than what its parent has. */

import type { Limits, Mode, Session } from "@lathe/protocol";
import type { SessionHost, SubagentDefinition } from "../host/session-host.ts";
import type { SessionOptions } from "../host/session-options.ts";

type Heard = Pick<SessionOptions, "onEvent" | "onDelta" | "attended">;

export interface Parent {
  readonly host: Pick<SessionHost, "models">;
  readonly options: SessionOptions;
  readonly session: Session;
}

/** `now` in milliseconds since the epoch. */
export function childOptions(
  { host, options, session }: Parent,
  agent: SubagentDefinition,
  { now, ...heard }: Heard & { readonly now: number },
): SessionOptions {
  // A plan is made by the session of a person, and a subagent that has answered is not woken.
  const { planner: _, effort: __, wakes: _w, ...own } = options;
  const effort = agent.effort ?? session.settings.effort;
  return {
    ...own,
    ...heard,
    attended: heard.attended && session.settings.attended,
    mode: narrower(session.settings.mode, agent.mode),
    models: modelsOf({ host, session }, agent),
    ...(effort && { effort }),
    rules: [...(agent.rules ?? []), ...options.rules],
    limits: limitsOf(session, agent, now),
    checkpoints: session.settings.checkpoints ?? options.checkpoints,
  };
}

const widths: Readonly<Record<Mode, number>> = { "read-only": 0, plan: 0, ask: 1, auto: 2 };

/** The parent's where they are as wide. */
function narrower(parent: Mode, own: Mode = parent): Mode {
  const mode = widths[own] < widths[parent] ? own : parent;
  // A plan is made by the session of a person.
  return mode === "plan" ? "read-only" : mode;
}

/** The one its definition names, where the user reaches it; the parent's chain behind it. */
function modelsOf(
  { host, session }: Omit<Parent, "options">,
  { model }: SubagentDefinition,
): readonly string[] {
  const { settings } = session;
  const first = model !== undefined && host.models.isReached(model) ? [model] : [];
  if (settings.router && first.length === 0) return [`auto:${settings.router.mode}`];
  return [...new Set([...first, session.model, ...(settings.router ? [] : settings.models)])];
}

/** Money and tokens are held by the account of the tree; time is what the parent's turn has left. */
function limitsOf({ limits, turn }: Session, { steps }: SubagentDefinition, now: number): Limits {
  const most = Math.min(limits.steps ?? Number.POSITIVE_INFINITY, steps ?? Number.POSITIVE_INFINITY);
  const spent = turn ? now - turn.startedAt - turn.waitedMs : 0;
  return {
    ...(Number.isFinite(most) && { steps: most }),
    ...(limits.wallMs !== undefined && { wallMs: Math.max(1, limits.wallMs - spent) }),
  };
}
