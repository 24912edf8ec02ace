/** Live calls: the tool calls of a session that have no outcome yet, as a person follows them. A fold of its events. */
import type { Delta, Effect, Event } from "@lathe/protocol";
import { lastLines } from "../text/fit.ts";
import { afterCancel, type FinishedCall } from "./call-lines.ts";
import { callTarget } from "./call-target.ts";

export interface LiveCall {
  readonly tool: string;
  readonly input: string;
  readonly effects: readonly Effect[];
  /** Absent while it does not run. */
  readonly startedAt?: number;
  /** The last line of its output. */
  readonly progress?: string;
}

export interface LiveCalls {
  /** By id, in the order of the answer. */
  readonly calls: ReadonlyMap<string, LiveCall>;
  /** Whether somebody asked for the turn to stop. */
  readonly isCancelled: boolean;
}

export const noCalls: LiveCalls = { calls: new Map(), isCancelled: false };

/** The calls after an event. */
export function callsAfter(live: LiveCalls, event: Event): LiveCalls {
  switch (event.type) {
    case "step.completed":
      return event.data.parts.reduce((sum, part) => {
        if (part.type !== "tool-call") return sum;
        return withCall(sum, part.id, { tool: part.tool, input: part.input, effects: [] });
      }, live);
    case "permission.decided":
      return changed(live, event.data.call, { effects: event.data.effects });
    case "tool.started":
      return changed(live, event.data.call, { startedAt: event.at });
    case "tool.denied":
      return stopped(live, event.data.call);
    case "tool.completed":
      return withCall(live, event.data.call, undefined);
    case "cancel.requested":
      return { ...live, isCancelled: true };
    default:
      return live;
  }
}

/** The calls with what one of them has just printed. */
export function callsDuring(live: LiveCalls, delta: Delta): LiveCalls {
  if (delta.type !== "output" && delta.type !== "progress") return live;
  return changed(live, delta.call, { progress: lastLines(delta.text, 1)[0] ?? "" });
}

/** A call with its outcome. *Contract:* `live` is from before the event. */
export function finishedCall(live: LiveCalls, { data }: Event<"tool.completed">): FinishedCall {
  const call = live.calls.get(data.call) ?? { tool: data.call, input: "", effects: [] };
  const outcome = live.isCancelled ? afterCancel(data.outcome) : data.outcome;
  return { tool: call.tool, target: callTarget(call.input, call.effects), outcome, ms: data.ms };
}

export function runningCalls({ calls }: LiveCalls): readonly LiveCall[] {
  return [...calls.values()].filter(({ startedAt }) => startedAt !== undefined);
}

/** The call under this id replaced, added, or removed where there is none. */
export function withCall(live: LiveCalls, id: string, call: LiveCall | undefined): LiveCalls {
  const calls = new Map(live.calls);
  if (call) calls.set(id, call);
  else calls.delete(id);
  return { ...live, calls };
}

/** Nothing runs, whatever happened last. */
export function withoutRunning(live: LiveCalls): LiveCalls {
  return [...live.calls.keys()].reduce(stopped, live);
}

/** A denied call is not running until it is known whether it runs again. */
function stopped(live: LiveCalls, id: string): LiveCalls {
  const call = live.calls.get(id);
  if (!call) return live;
  const { startedAt: _, ...rest } = call;
  return withCall(live, id, rest);
}

function changed(live: LiveCalls, id: string, news: Partial<LiveCall>): LiveCalls {
  const call = live.calls.get(id);
  return call ? withCall(live, id, { ...call, ...news }) : live;
}
