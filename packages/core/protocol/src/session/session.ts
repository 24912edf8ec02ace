/** Session: everything the system knows of one session, folded from its events. */

import type { Attempts } from "../attempts.ts";
import type { Account, Limits } from "../budget.ts";
import type { Decision, Effect, Refusal, Rule } from "../decision.ts";
import type { EditPart } from "../edit-part.ts";
import type { Failure } from "../failure.ts";
import type { JudgedFiles } from "../judged-files.ts";
import type { FinishReason, Message, ToolCallPart } from "../message.ts";
import type { Contact } from "../network.ts";
import type { Outcome, ShownLines, Todo } from "../outcome.ts";
import type { Plan } from "../plan.ts";
import type { Prompt } from "../prompt.ts";
import type { SentPrompt } from "../prompt-cache.ts";
import type { Route, Run } from "../routing.ts";
import type { RunLaterFile } from "../run-later/why-run-later.ts";
import type { Usage } from "../usage.ts";
import type { Background } from "./background.ts";
import type { Circuits } from "./circuit.ts";
import type { Compacted, CompactionRequest, TokensFreed } from "./compaction.ts";
import type { Owner } from "./owner.ts";
import type { Settings } from "./settings.ts";

/** How a turn ended. */
export type TurnEnd =
  | { readonly type: "done" }
  | { readonly type: "failed"; readonly failure: Failure }
  | { readonly type: "limit"; readonly limit: keyof Limits; readonly text: string }
  | { readonly type: "permission"; readonly text: string }
  | { readonly type: "loop"; readonly text: string }
  | { readonly type: "cancelled"; readonly by: string };

/** A tool call of the latest answer, and how far it got. */
export interface CallState {
  readonly call: ToolCallPart;
  readonly effects: readonly Effect[];
  readonly decision?: Decision;
  /** A person was asked and has not answered. */
  readonly asked?: {
    /** `seq` of the question. */
    readonly seq: number;
    readonly kind: "permission" | "question";
    readonly text: string;
    readonly options: readonly string[];
    readonly rules?: readonly Rule[];
  };
  /** With the rules that were shown with the question. */
  readonly answer?: {
    readonly text: string;
    readonly by: string;
    readonly rules?: readonly Rule[];
    readonly part?: EditPart;
  };
  /** What a person took of it, once it is decided so. */
  readonly part?: EditPart;
  /** The files that its decision depends on, or the question that waits for a person. */
  readonly judged?: JudgedFiles;
  /** It ran, and the sandbox kept it from something: what, and the outcome it has if that stays so. */
  readonly denied?: { readonly effects: readonly Effect[]; readonly outcome: Outcome };
  /** What it may do beyond the sandbox's spec. */
  readonly grants?: readonly Effect[];
  readonly startedAt?: number;
  /** Versions of the files it was about to change, from `tool.started`. */
  readonly before?: Readonly<Record<string, string | null>>;
  /** The session it opened. */
  readonly child?: string;
  readonly outcome?: Outcome;
}

/** One answer's calls with their results, kept for the loop guard. */
export interface AnswerRecord {
  readonly calls: readonly { readonly tool: string; readonly input: string; readonly result: string }[];
}

export interface Attempt {
  /** Unique in the session. */
  readonly id: string;
  readonly model: string;
  readonly startedAt: number;
}

export interface Turn {
  readonly startedAt: number;
  /** Answers completed. */
  readonly steps: number;
  /** Failed attempts since the last answer, over all models. */
  readonly failures: number;
  /** Failed attempts since the last answer or switch, on the current model. */
  readonly modelFailures: number;
  /** When the first of `failures` happened. */
  readonly failingSince?: number;
  /** Milliseconds lost to failing attempts before the last answer, less what answers since have made good. */
  readonly lostMs?: number;
  /** A provider has said something, if only why it gave no answer: the addresses are not all wrong. */
  readonly reached?: true;
  /** Another model took over since the last answer, and the conversation says so. */
  readonly handedOver?: true;
  /** The next attempt is to find out whether the model has recovered; if not, this one goes on. */
  readonly probing?: string;
  readonly lastFailure?: Failure;
  /** The next attempt waits for this moment. */
  readonly retryAt?: number;
  /** Set from `step.started` until it completes or fails. */
  readonly attempt?: Attempt;
  readonly cancelledBy?: string;
  /** The step at which the model was last nudged out of a loop. */
  readonly nudgedAt?: number;
  /** Milliseconds spent waiting for a person. */
  readonly waitedMs: number;
  /** Why the last answer ended, until something was said or done after it. */
  readonly lastReason?: FinishReason;
  readonly askedAt?: number;
  /** Why a call needed a person, where none could be asked. */
  readonly blocked?: string;
  /** Answers in a row that were cut at the output limit. */
  readonly cut: number;
  /** Answers completed when the files were last kept before a step, as long as no other program had time to change them since. */
  readonly covered?: number;
  /** Answers completed when the router last chose. */
  readonly routedAt?: number;
  /** What the last compaction since the last answer freed. */
  readonly freed?: TokensFreed;
  /** How often a hook kept it from ending. */
  readonly held?: number;
  /** Commands that ended, the latest 20. */
  readonly runs?: readonly Run[];
  /** Files it changed that programs or later sessions run or follow. */
  readonly runLater?: readonly RunLaterFile[];
}

/** A moment the session can go back to: right before a step. */
export interface Mark {
  readonly seq: number;
  /** The step it is before, counted through the session from 1. */
  readonly step: number;
  /** Whether a turn begins there, so that its words go too. */
  readonly opens: boolean;
  /** Messages by then. */
  readonly said: number;
  readonly shown: Session["shown"];
  readonly noted?: Session["noted"];
  readonly background: Background;
  readonly todos: Session["todos"];
  readonly instructed: Session["instructed"];
}

/** What the model knows of the session; a rewind takes it back as a whole. */
export type Conversation = Pick<
  Session,
  "messages" | "compacted" | "shown" | "noted" | "background" | "todos" | "instructed" | "step" | "marks"
>;

/** An attempt to keep the files: right before something that may change them, or once the session lets go of them. */
export interface CheckpointAttempt {
  readonly seq: number;
  readonly moment: "before" | "after";
  /** Absent when it failed. */
  readonly ref?: string;
  readonly failure?: Failure;
  /** The session was taken over since the "before" that precedes it: changes in between were not observed. */
  readonly unsure?: true;
}

/** The last rewind, until the next message: what undoing it brings back. */
export interface Rewind {
  readonly seq: number;
  /** It brought back what an earlier one had taken away. */
  readonly isUndo?: true;
  readonly conversation?: Conversation;
  /** A checkpoint. */
  readonly files?: string;
}

export interface Session {
  readonly id: string;
  /** `seq` of the last event; 0 before the first. */
  readonly head: number;
  readonly epoch: number;
  readonly owner?: Owner;
  /** `seq` of the last claim; 0 before the first. */
  readonly claimed: number;
  /** The session that made this one, and the first of them all; absent for one that a person began. */
  readonly parent?: string;
  readonly root?: string;
  /** What kind of subagent it is. */
  readonly agent?: string;
  /** Sessions that its calls opened, and those of attempts, oldest first. */
  readonly children: readonly string[];
  /** Absent where its task was not tried several times. */
  readonly attempts?: Attempts;
  readonly cwd: string;
  readonly title: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly prompt: Prompt;
  readonly settings: Settings;
  readonly limits: Limits;
  /** The model of the next attempt. */
  readonly model: string;
  /** Models that failed and have not answered since. */
  readonly circuits: Circuits;
  /** The one that a person asked for since; it takes over before the next attempt. */
  readonly chosen?: string;
  /** Absent without a router. */
  readonly route?: Route;
  readonly messages: readonly Message[];
  /** What was said before each compaction, oldest first. */
  readonly compacted: readonly Compacted[];
  /** The one that is due. */
  readonly compaction?: CompactionRequest;
  /** Calls of the latest answer while at least one has no outcome. */
  readonly calls: readonly CallState[];
  readonly turn?: Turn;
  readonly lastEnd?: TurnEnd;
  readonly usage: Usage;
  /** What each model was last sent. */
  readonly prompts: Readonly<Record<string, SentPrompt>>;
  /** The last answered request. */
  readonly asked?: { readonly model: string; readonly tokens: number };
  /** Tokens that each provider counts for one estimated, at most as seen. */
  readonly density: Readonly<Record<string, number>>;
  readonly account: Account;
  readonly shown: Readonly<Record<string, readonly ShownLines[]>>;
  /** Files that the model was told not to be as it saw them, until it sees them again: the version then; null: gone. */
  readonly noted?: Readonly<Record<string, string | null>>;
  readonly todos: readonly Todo[];
  readonly background: Background;
  /** Turns in a row that began with the end of a command rather than a message. */
  readonly woken?: number;
  /** Folders whose instructions were looked for. */
  readonly instructed: readonly string[];
  /** The plan it was given or has made. */
  readonly plan?: Plan;
  /** The last that the model was told of plans: one is wanted. */
  readonly planTold?: true;
  /** What every command of the session may do beyond the sandbox's spec. */
  readonly grants: readonly Effect[];
  /** What a person allowed for the rest of it. */
  readonly rules: readonly Rule[];
  /** What commands tried to reach over the network, the latest last. */
  readonly contacts: readonly Contact[];
  /** Answers since a file last changed, a process last produced, or a person last spoke; the latest 20. */
  readonly recent: readonly AnswerRecord[];
  /** Answers completed, but for those that were taken back. */
  readonly step: number;
  readonly marks: readonly Mark[];
  /** Oldest first, those before a rewind included. */
  readonly checkpoints: readonly CheckpointAttempt[];
  /** Why its owner can keep no checkpoints here. */
  readonly uncovered?: Failure;
  readonly rewind?: Rewind;
  /** What was refused and not allowed since, the latest 100. */
  readonly refusals: readonly Refusal[];
  /** Experiments whose varied part it has used. */
  readonly exposed?: readonly string[];
  /** Ids of inbox offers that became events; the latest 64. */
  readonly offers: readonly string[];
}
