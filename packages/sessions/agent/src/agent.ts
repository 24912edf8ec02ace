/** What a session is made of, and what it is run with. */
import type { Limits, ProfileTuning, Session, Settings, Tool } from "@lathe/protocol";

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
  readonly origin?: SessionOrigin;
  /** What it tries of the profile. */
  readonly tuning?: ProfileTuning | undefined;
}

/** Who made a session, as what, and what that kind of agent is told. */
export interface SessionOrigin {
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
