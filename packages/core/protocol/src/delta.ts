/** Deltas: what listeners see while it happens; never stored, never needed to resume. */
import * as v from "valibot";

export type Delta =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "reasoning"; readonly text: string }
  /** The text shown of the running attempt is void: it failed and will not become part of the conversation. */
  | { readonly type: "void" }
  /** Output of a running tool. */
  | { readonly type: "output"; readonly call: string; readonly text: string }
  /** What a running tool is at, for a progress line. */
  | {
      readonly type: "progress";
      readonly call: string;
      readonly text: string;
      readonly subagent?: SubagentProgress;
    }
  /** What takes a moment between two calls. */
  | { readonly type: "status"; readonly text: string }
  /** The owner waits before the next attempt. */
  | { readonly type: "waiting"; readonly until: number; readonly why: string };

/** Where a subagent is, for a line of its own. */
export interface SubagentProgress {
  readonly session: string;
  readonly agent: string;
  /** The tool it uses and on what, or that it thinks; its last word once it has ended. */
  readonly doing: string;
  /** Answers completed. */
  readonly steps: number;
  readonly tokens: number;
  /** US dollars; a lower bound where a price is unknown. */
  readonly cost: number;
  readonly ended?: true;
}

const progressSchema: v.GenericSchema<unknown, SubagentProgress> = v.object({
  session: v.string(),
  agent: v.string(),
  doing: v.string(),
  steps: v.number(),
  tokens: v.number(),
  cost: v.number(),
  ended: v.exactOptional(v.literal(true)),
});

/** For programs that read deltas; nothing of ours checks them. */
export const deltaSchema: v.GenericSchema<unknown, Delta> = v.variant("type", [
  v.object({ type: v.literal("text"), text: v.string() }),
  v.object({ type: v.literal("reasoning"), text: v.string() }),
  v.object({ type: v.literal("void") }),
  v.object({ type: v.literal("output"), call: v.string(), text: v.string() }),
  v.object({
    type: v.literal("progress"),
    call: v.string(),
    text: v.string(),
    subagent: v.exactOptional(progressSchema),
  }),
  v.object({ type: v.literal("status"), text: v.string() }),
  v.object({ type: v.literal("waiting"), until: v.number(), why: v.string() }),
]);
