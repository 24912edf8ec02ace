/** The last line of a run: how it ended, its duration and its cost. */
import type { Session } from "@lathe/protocol";
import { count, duration, money, plural } from "../text/figures.ts";

/** 12.4k tokens in (10.1k cached, 2.3k fresh), 420 out. */
function tokensText(usage: Session["usage"]): string {
  const fresh = usage.input - usage.cached;
  const parts = `${count(usage.cached)} cached, ${count(fresh)} fresh`;
  return `${count(usage.input)} tokens in (${parts}), ${count(usage.output)} out`;
}

function costText({ cost, costUnknown }: Pick<Session["account"], "cost" | "costUnknown">): string {
  if (!costUnknown) return money(cost);
  return cost > 0 ? `at least ${money(cost)}, the rest unknown` : "cost unknown";
}

/** The cost of the sessions below one; a lower bound if `costUnknown`. */
export interface SubagentsCost extends Pick<Session["account"], "cost" | "costUnknown"> {
  readonly sessions: number;
  readonly tokens: number;
}

/** 2 subagents besides: $0.0123, 12.4k tokens. */
export function subagentsText(added: SubagentsCost): string {
  const { sessions, tokens } = added;
  const who = `plus ${plural(sessions, "subagent")}`;
  return tokens === 0 ? who : `${who}: ${costText(added)}, ${count(tokens)} tokens`;
}

export function summaryText(session: Session, steps: number, ms: number): string {
  const took = `${plural(steps, "step")} in ${duration(ms)}`;
  // The embedded model counts no tokens and costs nothing.
  if (session.usage.input + session.usage.output === 0 && session.account.cost === 0) return took;
  return [took, costText(session.account), tokensText(session.usage)].join(" · ");
}
