/** The session host port: what the use cases need to start, resume and run sessions in one workspace. */

import type {
  AgentKind,
  Assignment,
  Effort,
  Failure,
  GuardRails,
  Mode,
  Ports,
  RouterSettings,
  Rule,
  RunLayer,
  SandboxDriver,
  Session,
  Tool,
  ToolSpec,
  TreePermissions,
  WithLease,
} from "@lathe/protocol";
import type { Memory, Plans, Skill } from "@lathe/tools";
import type { SessionArchive } from "./session-archive.ts";
import type { SessionExporter, SessionOptions } from "./session-options.ts";
/** A folder of one session outside the workspace, for its commands' HOME and TMPDIR. */
export interface ScratchFolder {
  readonly path: string;
  /** Whether it was there before: its maker died, and may have left processes running. */
  readonly isFound: boolean;
  /** *Contract:* removes it with its content; idempotent; never throws, and leaves other users' files. */
  remove(): void;
}

/** The tools a session has beside the built-in ones. */
export interface SessionTools {
  readonly tools: readonly Tool[];
  /** *Contract:* a layer that has edited files checked while that is wanted. Absent without checkers. */
  checkEdits?(isWanted: () => boolean): RunLayer;
  /** *Contract:* ends what they started; idempotent. */
  close(): Promise<void>;
}

/** What the ports of a session need to know of its tree of sessions. */
export interface LeasedMember {
  /** 0 for the session of a person. */
  readonly depth: number;
  readonly tools: readonly Tool[];
  treePermissions(): TreePermissions;
  session(): Session;
}

/** The session lease that effects run under, and what belongs to it. */
export interface SessionLease {
  /** Of the session, or of a few calls outside any. */
  readonly id: string;
  /** Removed when the ports are closed. */
  readonly scratch: ScratchFolder;
  /** The session whose ledger the effects charge. */
  readonly root: string;
  /** Absent outside sessions. */
  readonly member?: LeasedMember;
  /** Tools owned by this session; closed with its ports. */
  readonly own: SessionTools;
  /** The mode of the session as it is now. */
  mode(): Mode;
  /** *Contract:* ends the turn that runs. */
  cancel(by: string): Promise<unknown>;
  /** The highest number of a process that the session knows. */
  numberedAfter(): number;
  /** *Contract:* a failure once another owner has the session: then nothing may be started any more. */
  check(): Promise<Failure | undefined>;
  /** *Contract:* runs a short effect so that nobody else becomes the owner before it ends. */
  readonly withLease: WithLease;
}

/** The hooks of one session: once they are open, its ports have them. */
export interface SessionHooks {
  /**
   * *Contract:* before a turn, which may begin the session; resolves with undefined where no hooks are defined. `refused`
   * says why words were not let through.
   */
  open(begins?: "startup" | "resume"): Promise<{ refused(): string | undefined } | undefined>;
  close(): Promise<void>;
}

/** What confines commands, and what was tried to find out. */
export interface Containment {
  readonly driver: SandboxDriver;
  /** Why no better driver was chosen, one sentence each. */
  readonly reasons: readonly string[];
}

export interface OpenedPorts {
  /** Handed down as they are: some of them are loaded later. */
  readonly ports: Ports;
  readonly hooks: SessionHooks;
  readonly models: readonly string[];
  /** Present where a router chooses among the models. */
  readonly router?: RouterSettings;
  /** Tokens that a model takes, as far as is known. */
  windowOf(model: string): number;
  containment(): Promise<Containment>;
  /** *Contract:* ends every process and removes the scratch folder; idempotent. */
  close(): Promise<void>;
}

/** Which models the host's configuration reaches. */
export interface HostModels {
  /** *Contract:* the model that a new session begins with. */
  first(options: Pick<SessionOptions, "models" | "planner">): string;
  /** *Contract:* why the first model cannot be used, as far as its name tells. */
  refused(options: Pick<SessionOptions, "models" | "planner">): Failure | undefined;
  isReached(model: string): boolean;
}

export interface Instructions {
  readonly texts: readonly { readonly path: string; readonly text: string }[];
  /** What was left out, cut or not followed and why, one sentence each. */
  readonly remarks: readonly string[];
}

/** A kind of subagent. An absent setting is its parent's; none may be wider than that. */
export interface SubagentDefinition extends AgentKind {
  /** What it is told of its work. */
  readonly role: string;
  readonly model?: string;
  readonly effort?: Effort;
  readonly mode?: Mode;
  /** Steps of a turn. */
  readonly steps?: number;
  /** Rules that only deny. */
  readonly rules?: readonly Rule[];
  /** *Contract:* those of its parent's tools that it may have, perhaps with narrower calls; pure. */
  restrict(tools: readonly Tool[]): readonly Tool[];
}

/** What the files of the user and the project define. */
export interface SessionExtensions {
  readonly agents: readonly SubagentDefinition[];
  readonly skills: readonly Skill[];
  /** What was left out and why, one sentence each. */
  readonly remarks: readonly string[];
}

export interface FirstLook {
  readonly rails: GuardRails;
  readonly task: string;
  readonly rules: readonly Rule[];
}

/** One workspace in which sessions run. */
export interface SessionHost extends SessionArchive {
  /** Real path of the workspace. */
  readonly cwd: string;
  /** The id of the fork that this host works in; absent outside forks. */
  readonly fork?: string;
  readonly models: HostModels;
  /** Without secrets that the host knows. */
  redact(text: string): Promise<string>;
  /** *Contract:* the fork that a session is to continue in; undefined where it works in its folder, or this host is that fork. */
  forkOf(session: Session): Promise<{ readonly id: string } | undefined>;
  /** What the prompt says of the machine. */
  environment(now: number): Promise<Readonly<Record<string, string>>>;
  /** What files of the user and the project tell the agent, with remembered facts; not redacted yet. */
  instructions(): Promise<Instructions>;
  extensions(tools: readonly Tool[]): Promise<SessionExtensions>;
  /** Keeps a fact that a person agreed to. */
  readonly remember: Memory["add"];
  plans(session: () => Session, widest: Mode | undefined): Plans;
  /** *Contract:* parts of the workspace for models that do not look by themselves; never rejects. */
  firstLook(look: FirstLook): Promise<readonly { readonly about: string; readonly text: string }[]>;
  /** The arms of experiments for a new session. */
  assign(session: string): Promise<readonly Assignment[]>;
  /** Of the arms a session had, those that are still tried. */
  stillAssigned(had: readonly Assignment[]): Promise<readonly Assignment[]>;
  /** Undefined where nothing is exported. */
  openExporter(onRemark: SessionOptions["onRemark"]): Promise<SessionExporter | undefined>;
  /** `pinned`: the tools of a session that continues, which it keeps; absent for a new one. */
  tools(options: SessionOptions, pinned?: () => readonly ToolSpec[]): Promise<SessionTools>;
  /** *Contract:* the same folder for the same session. */
  scratch(session: string): ScratchFolder | Failure;
  /** *Contract:* opens all that an agent reaches; the caller closes it. What the first request does not need is loaded later. */
  openPorts(lease: SessionLease, options: SessionOptions): OpenedPorts;
}
