/** The session archive port: what the use cases need to list, read, name, fork, rewind and delete stored sessions. */
import type {
  Blobs,
  Checkpoint,
  Checkpoints,
  Clock,
  Event,
  Failure,
  Inbox,
  Ledgers,
  Owner,
  SessionLog,
  Store,
  WithLease,
} from "@lathe/protocol";

export interface SessionStores {
  readonly store: Store;
  readonly inbox: Inbox;
  readonly ledgers: Ledgers;
  readonly blobs: Blobs;
  /** What files said when a model saw or changed them. These texts may be thrown away, so they are apart from the blobs. */
  readonly texts: Blobs;
}

/** Reads a log that another process may be writing. */
export interface LogFollower {
  /** *Contract:* the events that are new since the last call; never waits. */
  next(): readonly Event[] | Failure;
  /** Absent when the last owner gave the session up. */
  owner(): Owner | undefined;
  close(): void;
}

export interface CheckpointPlace {
  /** Real path of the workspace. */
  readonly root: string;
  /** Guards the changes of a session's owner; absent for readers. */
  readonly withLease?: WithLease;
  /** Hears in one sentence what had to be fixed. */
  readonly onRemark?: ((text: string) => void) | undefined;
}

/** What the files of one folder were, opened when first needed. */
export interface LazyCheckpoints {
  /** *Contract:* a failure where there can be none, the same each time. */
  open(): Promise<Checkpoints | Failure>;
  take(session: string, signal: AbortSignal): Promise<Checkpoint | Failure>;
  /** The last checkpoint taken here; undefined before the first. */
  last(): string | undefined;
  /** *Contract:* ends what runs; now and then makes room in the stores of all folders. Idempotent. */
  close(): Promise<void>;
}

/** A copy of the folder with changes that a person has neither applied nor discarded. */
export interface WaitingCopy {
  readonly id: string;
  /** The session that made the changes. */
  readonly session?: string | undefined;
}

export interface SessionArchive {
  readonly stores: SessionStores;
  readonly clock: Clock;
  /** This process, as an owner of sessions. */
  owner(): Owner;
  /** *Contract:* whether the owner still runs; in doubt, as on another machine, true. */
  isRunning(owner: Owner): boolean;
  /** *Contract:* reads without owning; the caller closes it. `session-unknown` when there is no such log. */
  follow(session: string): LogFollower | Failure;
  /** *Contract:* the same failure; one of the host's own storage says where that is and what to do. */
  withHint(failure: Failure): Failure;
  hasFolder(path: string): boolean;
  /** *Contract:* opens nothing yet; the caller closes it. */
  checkpoints(place: CheckpointPlace): LazyCheckpoints;
  /** The name of the language of a file, where its extension has a grammar. */
  languageOf(path: string): Promise<string | undefined>;
  waitingCopies(): Promise<readonly WaitingCopy[]>;
  /**
   * *Contract:* removes what is kept beside the logs for these sessions alone: blobs, plans, checkpoints. Can be repeated
   * after a failure.
   */
  forget(sessions: readonly string[], logs: readonly SessionLog[]): Promise<Failure | undefined>;
}
