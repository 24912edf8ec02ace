/** The hooks port: what programs of the user say of calls, words and ends; where it is absent there are none. */
import type { Decision, Effect } from "../decision.ts";
import type { Outcome } from "../outcome.ts";

/** A call by the name and the arguments that it has in Claude Code, for which hooks are written. */
export interface HookedTool {
  readonly tool_name: string;
  readonly tool_input: Readonly<Record<string, unknown>>;
}

/** What translating a call takes. */
export interface HookedPlace {
  /** All that the call does. */
  readonly effects: readonly Effect[];
  /** *Contract:* the absolute path of an argument; the workspace for none. */
  pathOf(path: unknown): string;
}

/** *Contract:* pure; the same call in Claude Code, undefined where it has no counterpart. */
export type Counterpart = (at: HookedPlace) => HookedTool | undefined;

export interface HookedCall {
  readonly id: string;
  readonly tool: string;
  /** The arguments, as JSON. */
  readonly input: string;
  readonly effects: readonly Effect[];
  readonly counterpart?: Counterpart | undefined;
}

/** Nothing here ever rejects; a hook that fails says nothing. */
/** Whether a person asked for it, or the conversation has become too long. */
export type CompactionTrigger = "manual" | "auto";

export interface CompactionHookAnswer {
  /** Whether it shall not be; heeded where a person asked for it, as a conversation that does not fit cannot go on. */
  readonly isBlocked: boolean;
  /** What a summary shall keep above all. */
  readonly focus?: string;
}

export interface Hooks {
  /** *Contract:* what becomes of the decision about a call; the caller holds it to what it was where that was a denial. */
  decide(call: HookedCall, decision: Decision, signal: AbortSignal): Promise<Decision>;
  /** *Contract:* an answer in place of a person; undefined where no hook gives one. */
  permit(call: HookedCall, decision: Decision, signal: AbortSignal): Promise<Decision | undefined>;
  /** *Contract:* the outcome with what is said of it. */
  ran(call: HookedCall, outcome: Outcome, signal: AbortSignal): Promise<Outcome>;
  /** *Contract:* what is added to a person's words; undefined where they are not to be heard. */
  heard(words: string, signal: AbortSignal): Promise<string | undefined>;
  /** *Contract:* why the turn shall not end yet; `again`: it was kept from ending before. */
  stopping(last: string, again: boolean, signal: AbortSignal): Promise<string | undefined>;
  /** *Contract:* heard before the conversation is made shorter; `focus`: what a person asked the summary to keep. */
  compacting(
    trigger: CompactionTrigger,
    focus: string | undefined,
    signal: AbortSignal,
  ): Promise<CompactionHookAnswer>;
}
