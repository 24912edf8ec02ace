/** Deltas: what listeners see while it happens; never stored, never needed to resume. */
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
