/** Ports: everything an agent reaches. A host opens and closes them, and they are handed down as they are. */
import type { Facts, Rule } from "../decision.ts";
import type { Delta } from "../delta.ts";
import type { Event } from "../event.ts";
import type { InstructionsGiven } from "../events/instructions-given.ts";
import type { ModelRouted } from "../events/model-routed.ts";
import type { NoticePosted } from "../events/notice-posted.ts";
import type { Failure } from "../failure.ts";
import type { NetworkLog } from "../network.ts";
import type { RunLayer } from "../ports/call-layer.ts";
import type { Checkpoint } from "../ports/checkpoints.ts";
import type { Clock } from "../ports/clock.ts";
import type { Hooks } from "../ports/hooks.ts";
import type { Models } from "../ports/model.ts";
import type { SecondOpinion } from "../ports/second-opinion.ts";
import type { Inbox } from "../ports/store.ts";
import type { Tool, ToolPorts } from "../ports/tool.ts";
import type { RunLaterChanges } from "../run-later/why-run-later.ts";
import type { CircuitUpdate } from "../session/circuit.ts";
import type { Ledger } from "../session/ledger.ts";
import type { Session } from "../session/session.ts";

/** What holds commands in, and whether the user lets them run without. */
export type ContainmentFacts = Pick<Facts, "containment" | "uncontainedAllowed">;

/** A file that policy reads. */
export interface JudgedText {
  /** Absolute. */
  readonly path: string;
  readonly text: string | undefined;
  /** Of the same bytes; null where there is no file, and for large ones. */
  readonly digest: string | null;
}

/** What policy looks up around a command, beside the places of paths. Nothing here ever rejects. */
export interface PolicyEnvironment {
  /** *Contract:* whether anything is at a path, relative to the workspace, links not followed. */
  exists(path: string): Promise<boolean>;
  /** *Contract:* the file at a path, absolute or from the workspace; without a text where there is none, and for large ones. */
  text(path: string): Promise<JudgedText>;
  /** *Contract:* why a program of the user's runs or obeys a file, by its real path from the workspace; absent where none is looked for. */
  obeyed?(path: string): Promise<string | undefined>;
  /** *Contract:* the user's and the repository's aliases of git, by name. */
  gitAliases(): Promise<Readonly<Record<string, string>>>;
  /** *Contract:* what the next checkpoint will not hold, from the workspace; undefined where that is unknown. */
  uncovered(): Promise<readonly string[] | undefined>;
  /** *Contract:* whether git sees uncommitted changes, files it does not know included; true in doubt. */
  unsaved(): Promise<boolean>;
}

/** Where what a person allows for good is kept: the user's own place for this project, not the project's files. */
export interface KeptRules {
  /** *Contract:* those of the rules that a person may be offered to keep; all or none, as half of them would not be enough. */
  offered(rules: readonly Rule[]): Promise<readonly Rule[]>;
  /** *Contract:* durable once it resolves, and in `rules` from then on; a failure when they could not be kept. */
  keep(rules: readonly Rule[]): Promise<Failure | undefined>;
}

/** What the other sessions of its tree hold: what was refused to any of them, and what those above it were allowed. */
export type TreePermissions = Pick<Session, "refusals" | "rules" | "grants">;

export const noTreePermissions: TreePermissions = { refusals: [], rules: [], grants: [] };

/** Commands that have ended behind the conversation: what the model is told, and which these are. */
export interface FinishedCommands {
  readonly text: string;
  readonly ended: readonly string[];
}

/** What goes on behind the conversation. */
export interface Background {
  /** *Contract:* never rejects; the commands that have ended and whose end the model was not told; undefined for none. */
  finishedCommands(): Promise<FinishedCommands | undefined>;
  /** *Contract:* these were told: it is in the log. */
  told(ended: readonly string[]): void;
  /** Whether one of them is a reason to continue without a message: a person watches the session and it is idle. */
  wakes(): boolean;
}

/** When a router chooses, and what it must not draw itself: milliseconds since the epoch, and a number from [0, 1). */
export interface RouteInputs extends Pick<ModelRouted, "moment"> {
  readonly evidence?: string | undefined;
  readonly now: number;
  readonly random: number;
}

export interface Ports extends ToolPorts {
  readonly inbox: Inbox;
  /** Of the session's root: the account of the whole tree. */
  readonly ledger: Ledger;
  /** Absent where commands reach nothing that is decided about. */
  readonly network?: NetworkLog;
  /** The model that sums up conversations that are too long; absent: their own. */
  readonly summaryModel?: string;
  readonly models: Models;
  /** *Contract:* what other sessions found out about a model that rests; never throws, and is quick. */
  readonly circuitNews?: (model: string) => CircuitUpdate | undefined;
  /** *Contract:* pure but for loading the router; absent where the models are named. */
  route?(session: Session, drawn: RouteInputs): Promise<Omit<ModelRouted, "from">>;
  readonly tools: readonly Tool[];
  /** The rules as they are now: read them anew each time. */
  readonly rules: readonly Rule[];
  /** Absent where nothing can be kept. */
  readonly kept?: KeptRules;
  /** *Contract:* as it is now; absent where the session is alone. */
  treePermissions?(): TreePermissions;
  /** As they are now: they are loaded before the first turn. Absent where there are none. */
  readonly hooks?: Hooks | undefined;
  /** What checkers say of an edit, in its result; absent where nothing checks. */
  readonly checkEdits?: RunLayer;
  /** *Contract:* never rejects; resolves once files that a command replaced are there again. Absent where nobody looks. */
  restored?(): Promise<void>;
  /** *Contract:* what the project says to an agent in these folders; never rejects. Absent where nobody looks. */
  instructions?(folders: readonly string[]): Promise<InstructionsGiven["texts"]>;
  /** Absent where nothing goes on behind a conversation. */
  readonly background?: Background;
  /** *Contract:* never rejects; what the model is told of files that are not as it saw them, each version once; undefined for none. */
  changedFiles?(session: Session): Promise<Required<Pick<NoticePosted, "text" | "files">> | undefined>;
  /** *Contract:* an id for a session that a call opens; absent where none can. */
  newSession?(): string;
  /** Absent unless the user wants one. */
  readonly secondOpinion?: SecondOpinion;
  /** *Contract:* keeps the files as they are now for a session; never rejects for what the disk does; ends soon after the signal. */
  checkpoint(session: string, signal: AbortSignal): Promise<Checkpoint | Failure>;
  /** *Contract:* never rejects; between two checkpoints. Absent where it is not needed. */
  runLater?(from: string, to: string): Promise<RunLaterChanges>;
  /** *Contract:* resolves once it is known what holds commands in; never rejects. */
  containment(): Promise<ContainmentFacts>;
  readonly surroundings: PolicyEnvironment;
  /** *Contract:* whether a command that was left in the background runs now; absent where none can be. */
  runsInBackground?(): boolean;
  readonly clock: Clock;
  /** Every event as it is appended, with the session after it. */
  onEvent(event: Event, session: Session): void;
  onDelta(delta: Delta): void;
}
