/** Agent: one assembled agent with its ports still open. */
import type { Ports } from "@lathe/orchestrator";
import type {
  Blobs,
  Checkpoint,
  CircuitNews,
  Clock,
  Delta,
  Event,
  Facts,
  Failure,
  Inbox,
  Ledger,
  Limits,
  Models,
  NetworkLog,
  ProfileTuning,
  Rule,
  Sandbox,
  Search,
  SecondOpinion,
  Session,
  Settings,
  Syntax,
  Texts,
  Tool,
  Workspace,
} from "@lathe/protocol";
import type { RedactionStream } from "@lathe/protocol/secrets/stream";

/** What holds commands in, and whether the user lets them run without. */
export type Held = Pick<Facts, "containment" | "uncontainedAllowed">;

/** A file that policy reads. */
export interface JudgedText {
  /** Absolute. */
  readonly path: string;
  readonly text: string | undefined;
  /** Of the same bytes; null where there is no file, and for large ones. */
  readonly digest: string | null;
}

/** What policy looks up around a command, beside the places of paths. Nothing here ever rejects. */
export interface Surroundings {
  /** *Contract:* whether anything is at a path, relative to the workspace, links not followed. */
  exists(path: string): Promise<boolean>;
  /** *Contract:* the file at a path, absolute or from the workspace; without a text where there is none, and for large ones. */
  text(path: string): Promise<JudgedText>;
  /** *Contract:* why a program of the user's runs or obeys a file, by its real path from the workspace; absent where none is looked for. */
  obeyed?(path: string): Promise<string | undefined>;
  /** *Contract:* the user's and the repository's aliases of git, by name. */
  gitAliases(): Promise<Readonly<Record<string, string>>>;
  /** *Contract:* what the next checkpoint will not hold, from the workspace; undefined where nobody knows. */
  uncovered(): Promise<readonly string[] | undefined>;
  /** *Contract:* whether git sees changes that are in no commit, files it does not know included; true in doubt. */
  unsaved(): Promise<boolean>;
}

/** Where what a person allows for good is kept: the user's own place for this project, not the project's files. */
export interface KeptRules {
  /** *Contract:* those of the rules that a person may be offered to keep; all or none, as half of them help nobody. */
  offered(rules: readonly Rule[]): Promise<readonly Rule[]>;
  /** *Contract:* durable once it resolves, and in `rules` from then on; a failure when they could not be kept. */
  keep(rules: readonly Rule[]): Promise<Failure | undefined>;
}

/** What the other sessions of its tree hold: what was refused to any of them, and what those above it were allowed. */
export type KinHold = Pick<Session, "refusals" | "rules" | "grants">;

export const noKin: KinHold = { refusals: [], rules: [], grants: [] };

/** Everything an agent reaches; the host opens and closes it. */
export interface AgentPorts {
  readonly inbox: Inbox;
  /** Of the session's root. */
  readonly ledger: Ledger;
  readonly network?: NetworkLog;
  readonly blobs: Blobs;
  /** Who sums up conversations that are too long; absent: their own model. */
  readonly summaryModel?: string;
  readonly texts: Texts;
  /** *Contract:* never rejects; takes keys and passwords out of a text. */
  redact(text: string): Promise<string>;
  /** *Contract:* never rejects; the same for a text that comes in pieces. */
  redaction(): Promise<RedactionStream>;
  readonly models: Models;
  /** *Contract:* what other sessions found out about a model that rests; never throws, and is quick. */
  readonly circuitNews?: (model: string) => CircuitNews | undefined;
  /** *Contract:* pure but for loading the router; absent where the models are named. */
  readonly route?: NonNullable<Ports["route"]>;
  readonly tools: readonly Tool[];
  /** As they are now. */
  readonly rules: readonly Rule[];
  /** Absent where nothing can be kept. */
  readonly kept?: KeptRules;
  /** *Contract:* as it is now; absent where the session is alone. */
  kin?(): KinHold;
  readonly hooks?: NonNullable<Ports["hooks"]>;
  readonly instructions?: NonNullable<Ports["instructions"]>;
  readonly background?: NonNullable<Ports["background"]>;
  readonly changedFiles?: NonNullable<Ports["changedFiles"]>;
  /** *Contract:* an id for a session that a call opens; absent where none can. */
  newSession?(): string;
  /** Absent unless the user wants one. */
  readonly secondOpinion?: SecondOpinion;
  readonly workspace: Workspace;
  /** *Contract:* keeps the files as they are now for a session; never rejects for what the disk does; ends soon after the signal. */
  checkpoint(session: string, signal: AbortSignal): Promise<Checkpoint | Failure>;
  readonly runLater?: NonNullable<Ports["runLater"]>;
  readonly sandbox: Sandbox;
  /** *Contract:* resolves once it is known what holds commands in; never rejects. */
  containment(): Promise<Held>;
  readonly surroundings: Surroundings;
  /** *Contract:* whether a command that was left in the background runs now; absent where none can be. */
  runsInBackground?(): boolean;
  readonly search: Search;
  readonly syntax: Syntax;
  readonly clock: Clock;
  /** Every event as it is appended, with the session after it. */
  onEvent(event: Event, session: Session): void;
  onDelta(delta: Delta): void;
}

/** What a new session starts from. */
export interface NewSession {
  readonly id: string;
  /** Real path of the workspace. */
  readonly cwd: string;
  /** The first words of the user; the title is made of them. */
  readonly task: string;
  readonly harness: string;
  /** The one that begins: the prompt is in its profile. */
  readonly model: string;
  readonly tools: readonly Tool[];
  /** Operating system, date without time, and the like: small, true and stable for the session. */
  readonly environment: Readonly<Record<string, string>>;
  /** Text of AGENTS.md and the like, by path. */
  readonly instructions: readonly { readonly path: string; readonly text: string }[];
  /** What its files are called and say, for models that are shown it at once. */
  readonly material?: readonly { readonly about: string; readonly text: string }[];
  /** Of a subagent. */
  readonly birth?: Birth;
  /** What it tries of the profile. */
  readonly tuning?: ProfileTuning | undefined;
}

/** Who made a session, as what, and what that kind of agent is told. */
export interface Birth {
  readonly parent: string;
  /** The first of them all. */
  readonly root: string;
  readonly agent: string;
  /** Absent for one that is told no more than a session of a person. */
  readonly role?: string;
}

export interface RunOptions {
  readonly settings: Settings;
  readonly limits: Limits;
  /** As it is now, where it has been driven since its log was opened. */
  readonly session?: Session;
}
