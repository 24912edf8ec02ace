/** Call layer: a function around a tool call; `call-layers.ts` of the agent lists all of them. */
import type { Effect } from "../decision.ts";
import type { ToolCallPart } from "../message.ts";
import type { Outcome } from "../outcome.ts";
import type { PreparedCall, ToolContext, ToolKind } from "./tool.ts";

/** Answers a call itself, or has `next` answer it, at most once, and may change that answer. */
export type CallLayer<Call, Answer> = (call: Call, next: () => Promise<Answer>) => Promise<Answer>;

/** A call that was allowed, while it runs. */
export interface RunningCall {
  readonly call: Pick<ToolCallPart, "id" | "tool" | "input">;
  readonly kind?: ToolKind | undefined;
  readonly prepared: PreparedCall;
  /** All that it was allowed. */
  readonly effects: readonly Effect[];
  readonly context: ToolContext;
  /** It belongs to no session: nobody can be asked for what the sandbox keeps it from. */
  readonly isAlone?: true;
}

export type RunLayer = CallLayer<RunningCall, Outcome>;
