/** The totals of a session's subagents and their descendants: tokens, money, and changed files. */
import { type Event, fold, isFailure, type Session } from "@lathe/protocol";
import type { SessionArchive } from "../host/session-archive.ts";

export interface Descendants {
  readonly sessions: number;
  readonly tokens: number;
  /** US dollars; a lower bound if `costUnknown`. */
  readonly cost: number;
  readonly costUnknown: boolean;
  /** Paths relative to the workspace, in the order they first changed. */
  readonly changed: readonly string[];
}

/** *Contract:* reads only, also while they run; an unreadable log counts as a session of unknown cost. */
export async function descendantsOf(
  { stores: { store } }: Pick<SessionArchive, "stores">,
  { id: own, root = own, children }: Session,
): Promise<Descendants> {
  let sum: Descendants = { sessions: 0, tokens: 0, cost: 0, costUnknown: false, changed: [] };
  const left = [...children];
  for (let id = left.shift(); id !== undefined; id = left.shift()) {
    const events = await store.read(id);
    if (isFailure(events)) {
      sum = { ...sum, sessions: sum.sessions + 1, costUnknown: true };
      continue;
    }
    const { root: billed, account, children: more } = fold(events);
    // The account of the session that this one was forked from includes these.
    if (billed !== root) continue;
    left.push(...more);
    sum = {
      sessions: sum.sessions + 1,
      tokens: sum.tokens + account.tokens,
      cost: sum.cost + account.cost,
      costUnknown: sum.costUnknown || account.costUnknown,
      changed: [...new Set([...sum.changed, ...events.flatMap(changedBy)])],
    };
  }
  return sum;
}

function changedBy(event: Event): readonly string[] {
  if (event.type !== "tool.completed" || event.data.outcome.type !== "ok") return [];
  return (event.data.outcome.facts?.changed ?? []).map(({ path }) => path);
}
