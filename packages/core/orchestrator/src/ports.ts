/** What the orchestrator works with: an agent, whose context, policy and tools come in as functions. */
import type {
  CallState,
  CompactionWhy,
  Decision,
  Draft,
  Effect,
  Facts,
  Failure,
  JudgedFiles,
  ModelInfo,
  ModelRequest,
  Opinion,
  Outcome,
  Ports,
  PreparedCall,
  Prompt,
  Refusal,
  Rule,
  Session,
  SessionLog,
  ShortenedPart,
  ToolCallPart,
  ToolContext,
} from "@lathe/protocol";

/** All effects of a call, and what is known to judge them. */
export interface Examined {
  readonly effects: readonly Effect[];
  readonly facts: Facts;
  /** Of a call with a script: the files that its effects were read from; absent where there are none. */
  readonly judged?: JudgedFiles;
}

/** Both absent where nothing changes for the model that takes over. */
export interface Handover {
  readonly prompt?: Prompt;
  readonly note?: string;
}

/** How large the next request would be, and the most that it may be; in tokens. */
export interface Excess {
  readonly why: "window" | "tidy" | "images";
  readonly tokens: number;
  readonly most: number;
}

/** Makes conversations shorter. */
export interface Compactor {
  /** Who is asked for summaries; absent: the session's own model. */
  readonly model?: string;
  /** *Contract:* pure; tokens that a conversation may have in a model's window. */
  most(info: ModelInfo, session: Session): number;
  /** *Contract:* pure but for loading itself; undefined when the request may go as it is. `input` in tokens. */
  excess(
    session: Session,
    next: { readonly info: ModelInfo; readonly request: ModelRequest; readonly input: number },
  ): Promise<Excess | undefined>;
  /** *Contract:* what old results and images become; whole texts are stored first, and what cannot be stays. */
  shorten(
    session: Session,
    given: { readonly info: ModelInfo; readonly why: CompactionWhy },
  ): Promise<readonly ShortenedPart[]>;
  /** *Contract:* pure but for loading; what `by` is asked, to sum up the first `messages`; undefined for too few. */
  ask(
    session: Session,
    given: { readonly info: ModelInfo; readonly by: ModelInfo; readonly focus: string | undefined },
  ): Promise<{ readonly request: ModelRequest; readonly messages: number } | undefined>;
  /** *Contract:* pure but for loading; the summary with what is carried word for word; a failure when it is none. `info` of who goes on. */
  summary(
    session: Session,
    given: { readonly text: string; readonly messages: number; readonly info: ModelInfo },
  ): Promise<string | Failure>;
}

/** The ports that the loop itself uses. */
export type LoopPorts = Pick<
  Ports,
  | "background"
  | "changedFiles"
  | "checkpoint"
  | "circuitNews"
  | "clock"
  | "hooks"
  | "inbox"
  | "instructions"
  | "kept"
  | "ledger"
  | "models"
  | "network"
  | "newSession"
  | "onDelta"
  | "onEvent"
  | "route"
  | "runLater"
>;

/** One agent: its ports, and what context, policy and tools make of a session, as functions. */
export interface Agent {
  readonly ports: LoopPorts;
  /** *Contract:* pure; a call with its arguments parsed, once for as long as it is the same call. */
  prepare(call: ToolCallPart): PreparedCall | Failure;
  /** *Contract:* pure; what the model sees of the session. */
  assemble(session: Session, info: ModelInfo): ModelRequest;
  /** *Contract:* pure; what `to` starts from when it goes on with the session, and what it is told. */
  takeOver(session: Session, to: string): Handover;
  /** *Contract:* pure; how many calls of one answer are made, undefined for all. Absent where nothing limits them. */
  callsPerAnswer?(session: Session): number | undefined;
  /** *Contract:* pure; input tokens of a request, rather too many than too few. */
  estimate(request: ModelRequest): number;
  /** Absent where conversations stay as long as they are. */
  readonly compactor?: Compactor;
  /** *Contract:* reads the scripts of a call and gathers what `evaluate` needs to know of the world. */
  analyzeCall(session: Session, call: Pick<PreparedCall, "effects" | "script">): Promise<Examined>;
  /** *Contract:* never rejects; what becomes of a call that no person has answered. */
  decide(call: DecidingCall): Promise<Ruling>;
  /** *Contract:* pure; what the rules alone say. */
  evaluate(effects: readonly Effect[], facts: Facts): Decision;
  /** *Contract:* pure; of effects that the sandbox kept a command from. */
  evaluateGrant(effects: readonly Effect[], facts: Facts): Decision;
  /** *Contract:* the narrowest rules that would allow them; empty where none could, or where none is offered. */
  propose(effects: readonly Effect[], facts: Facts): Promise<readonly Rule[]>;
  /** *Contract:* the same for effects that the sandbox kept a command from. */
  proposeGrant(effects: readonly Effect[], facts: Facts): Promise<readonly Rule[]>;
  /** *Contract:* pure; what a person refuses who denies these effects. */
  refusals(effects: readonly Effect[], facts: Facts): readonly Refusal[];
  /** *Contract:* the file's current version, null where there is none. */
  version(path: string): Promise<string | null>;
  /** *Contract:* runs a call that was allowed; expected failures are outcomes, a throw is a bug. */
  run(call: CallState, prepared: PreparedCall, during: During): Promise<Outcome>;
}

/** A call to be decided. */
export interface DecidingCall extends Pick<Examined, "effects" | "facts"> {
  readonly call: ToolCallPart;
  readonly prepared: PreparedCall;
  readonly signal: AbortSignal;
}

export interface Ruling {
  readonly decision: Decision;
  /** Of a small model, where one was asked. */
  readonly opinion?: Opinion;
}

/** What a call has while it runs. */
export type Amid = Pick<ToolContext, "signal" | "ask">;

export interface During {
  readonly session: Session;
  readonly amid: Amid;
}

/** What `perform` works with. */
export interface PerformContext {
  readonly agent: Agent;
  readonly ports: LoopPorts;
  readonly log: SessionLog;
  /** As it is now. */
  session(): Session;
  /** Aborts when the turn is cancelled. */
  readonly signal: AbortSignal;
  /** Resolves when the session has grown beyond event `head`: an answer, a cancel. */
  woken(head: number): Promise<void>;
}

/** Events to append, in order, before `perform` goes on. */
export interface Entry {
  readonly drafts: readonly Draft[];
  /** Must survive a power cut before going on. */
  readonly durable: boolean;
}
