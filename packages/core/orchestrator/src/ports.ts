/** Ports of the orchestrator: context, policy and tools come in as functions. */
import type {
  Checkpoint,
  CircuitNews,
  Clock,
  CompactionWhy,
  Decision,
  Delta,
  Draft,
  Effect,
  Event,
  Facts,
  Failure,
  Hooks,
  Inbox,
  InstructionsGiven,
  JudgedFiles,
  Ledger,
  ModelInfo,
  ModelRequest,
  ModelRouted,
  Models,
  NetworkLog,
  NoticePosted,
  OpenCall,
  Opinion,
  PreparedCall,
  Prompt,
  Refusal,
  Rule,
  RunLaterChanges,
  Session,
  SessionLog,
  ShortenedPart,
  Tool,
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

/** When a router chooses, and what it must not draw itself: milliseconds since the epoch, and a number from [0, 1). */
export interface Drawn extends Pick<ModelRouted, "moment"> {
  readonly evidence?: string | undefined;
  readonly now: number;
  readonly random: number;
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

/** Commands that have ended behind the conversation: what the model is told, and which these are. */
export interface Endings {
  readonly text: string;
  readonly ended: readonly string[];
}

/** What goes on behind the conversation. */
export interface Background {
  /** *Contract:* never rejects; the commands that have ended and whose end the model was not told; undefined for none. */
  endings(): Promise<Endings | undefined>;
  /** *Contract:* these were told: it is in the log. */
  told(ended: readonly string[]): void;
  /** Whether one of them is a reason to go on without a person's word: somebody looks on, and does nothing else. */
  wakes(): boolean;
}

export interface Ports {
  readonly clock: Clock;
  readonly models: Models;
  /** *Contract:* what other sessions found out about a model that rests; never throws, and is quick. */
  readonly circuitNews?: (model: string) => CircuitNews | undefined;
  readonly inbox: Inbox;
  /** Of the session's root: the account of the whole tree. */
  readonly ledger: Ledger;
  /** Absent where commands reach nothing that is decided about. */
  readonly network?: NetworkLog;
  readonly tools: ReadonlyMap<string, Tool>;
  /** *Contract:* pure; what the model sees of the session. */
  assemble(session: Session, info: ModelInfo): ModelRequest;
  /** *Contract:* pure; what `to` starts from when it goes on with the session, and what it is told. */
  takeOver(session: Session, to: string): Handover;
  /** *Contract:* pure but for loading the router; absent where no session has one in its settings. */
  route?(session: Session, drawn: Drawn): Promise<Omit<ModelRouted, "from">>;
  /** *Contract:* pure; how many calls of one answer are made, undefined for all. Absent where nothing limits them. */
  callsPerAnswer?(session: Session): number | undefined;
  /** *Contract:* pure; input tokens of a request, rather too many than too few. */
  estimate(request: ModelRequest): number;
  /** Absent where conversations stay as long as they are. */
  readonly compactor?: Compactor;
  /** *Contract:* reads the scripts of a call and gathers what `evaluate` needs to know of the world. */
  examine(session: Session, call: Pick<PreparedCall, "effects" | "script">): Promise<Examined>;
  /** *Contract:* pure. */
  evaluate(effects: readonly Effect[], facts: Facts): Decision;
  /** *Contract:* pure; of effects that the sandbox kept a command from. */
  evaluateGrant(effects: readonly Effect[], facts: Facts): Decision;
  /** *Contract:* never rejects; what a small model says of a call that rules leave open, undefined for every other one. */
  opinion?(call: OpenCall, facts: Facts, signal: AbortSignal): Promise<Opinion | undefined>;
  /** *Contract:* the narrowest rules that would allow them; empty where none could, or where none is offered. */
  propose(effects: readonly Effect[], facts: Facts): Promise<readonly Rule[]>;
  /** *Contract:* the same for effects that the sandbox kept a command from. */
  proposeGrant(effects: readonly Effect[], facts: Facts): Promise<readonly Rule[]>;
  /** *Contract:* keeps rules for this and later sessions of the project; absent where that cannot be. */
  keep?(rules: readonly Rule[]): Promise<Failure | undefined>;
  /** *Contract:* pure; what a person refuses who denies these effects. */
  refusals(effects: readonly Effect[], facts: Facts): readonly Refusal[];
  /** *Contract:* the file's current version, null where there is none. */
  version(path: string): Promise<string | null>;
  /** *Contract:* keeps the files as they are now for this session; a failure stops nothing. Ends soon after the signal. */
  checkpoint(session: string, signal: AbortSignal): Promise<Checkpoint | Failure>;
  /** *Contract:* never rejects; between two checkpoints. Absent where nobody looks. */
  runLater?(from: string, to: string): Promise<RunLaterChanges>;
  /** *Contract:* what a running call may reach. */
  context(session: Session, call: string, amid: Amid): ToolContext;
  /** *Contract:* what the project says to an agent in these folders; never rejects. Absent where nobody looks. */
  instructions?(folders: readonly string[]): Promise<InstructionsGiven["texts"]>;
  readonly hooks?: Hooks;
  /** Absent where nothing goes on behind a conversation. */
  readonly background?: Background;
  /** *Contract:* never rejects; what the model is told of files that are not as it saw them, each version once; undefined for none. */
  changedFiles?(session: Session): Promise<Required<Pick<NoticePosted, "text" | "files">> | undefined>;
  /** *Contract:* an id for a session that a call opens; absent where none can. */
  newSession?(): string;
  onEvent(event: Event, session: Session): void;
  onDelta(delta: Delta): void;
}

/** What a call has while it runs. */
export type Amid = Pick<ToolContext, "signal" | "ask">;

/** What `perform` reaches beside the ports. */
export interface Reach {
  readonly ports: Ports;
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
