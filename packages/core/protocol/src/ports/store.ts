/** The store port: event logs with one owner at a time, the inbox beside each, and blobs. */
import type { EditPart } from "../edit-part.ts";
import type { Draft, Event } from "../event.ts";
import type { Failure } from "../failure.ts";
import type { ImagePart } from "../message.ts";
import type { Owner } from "../session/owner.ts";

/** A session's log in the hands of its owner. */
export interface SessionLog {
  readonly id: string;
  readonly epoch: number;
  /** Events as they were when claimed, the claim included. */
  readonly events: readonly Event[];
  /** What had to be mended on opening, e.g. a torn last line; one sentence each. */
  readonly repairs: readonly string[];
  /**
   * *Contract:* appends in order with gapless `seq` and returns the events; calls are serialised.
   * Each draft is checked against its schema. Survives `kill -9` once it resolves; survives a power cut when
   * `durable`, or once a later durable append resolves. `stale-epoch` when another owner has claimed the session:
   * then none of it is in the log. `disk-full` likewise.
   */
  append(drafts: readonly Draft[], options: AppendOptions): Promise<readonly Event[] | Failure>;
  /** *Contract:* `stale-epoch` when another owner has claimed; the check a sandbox makes before it starts a command. */
  check(): Promise<Failure | undefined>;
  /**
   * *Contract:* runs a short effect, such as the commit of a file, so that no other process becomes the owner before it ends;
   * `stale-epoch`, and it is not run, when one already has. Rejects as the effect does.
   */
  readonly withLease: WithLease;
  /** *Contract:* makes everything durable and gives the session up; idempotent. */
  close(): Promise<void>;
  /**
   * *Contract:* the log is gone, for good once it resolves: nothing claims, reads or lists it any more, and it is closed.
   * With a failure it is there as before, still in these hands.
   */
  remove(): Promise<Failure | undefined>;
}

export type WithLease = <T>(effect: () => Promise<T>) => Promise<T | Failure>;

export interface AppendOptions {
  /** Milliseconds since the epoch, written as `at`. */
  readonly at: number;
  readonly durable: boolean;
}

export interface SessionSummary {
  readonly id: string;
  readonly cwd: string;
  readonly title: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Of a subagent: who made it, and which one it is. */
  readonly parent?: string;
  readonly agent?: string;
}

export interface Store {
  /**
   * *Contract:* a new log holding `session.created`, the first claim, and what is to stand behind them: all or nothing.
   * `already-exists`, also for the later one of two at once; a log that was made and holds no event is taken.
   */
  create(created: Draft<"session.created">, options: CreateOptions): Promise<SessionLog | Failure>;
  /**
   * *Contract:* takes ownership with the next epoch and repairs a torn tail. `session-unknown`; `session-owned`
   * when the owner is alive and `force` is not set; `log-corrupt` names file and line.
   */
  claim(id: string, options: ClaimOptions & { readonly force?: boolean }): Promise<SessionLog | Failure>;
  /** *Contract:* reads without owning; a torn tail is left out. */
  read(id: string): Promise<readonly Event[] | Failure>;
  /** *Contract:* newest first by `updatedAt`; unreadable logs are left out, not fatal. */
  list(query: { readonly cwd?: string; readonly limit?: number }): Promise<readonly SessionSummary[]>;
}

export interface ClaimOptions {
  readonly owner: Owner;
  readonly at: number;
}

export interface CreateOptions extends ClaimOptions {
  /** Without which there must be no such session, whenever its maker dies. */
  readonly first?: readonly Draft[];
}

/** A message to a session from a client that does not own it. */
export type InboxMessage =
  | { readonly type: "message"; readonly text: string; readonly images?: readonly ImagePart[] }
  /** What the session is called from now on. */
  | { readonly type: "name"; readonly name: string }
  /** Another model shall go on. */
  | { readonly type: "model"; readonly model: string }
  | {
      readonly type: "answer";
      readonly call: string;
      /** `seq` of the `question.asked` that it answers: of a call that is asked about twice it answers no other one. */
      readonly question: number;
      readonly answer: string;
      /** What is taken of an edit that is allowed, where that is not all of it. */
      readonly part?: EditPart;
      /** The kind of client: `terminal`, `editor`, `program`; `user` in older logs. */
      readonly by: string;
      /** By which its sender finds it in the log. */
      readonly receipt?: string;
    }
  /** The conversation shall be made shorter; `focus` is what a summary should keep above all. */
  | { readonly type: "compact"; readonly focus?: string }
  | { readonly type: "cancel"; readonly by: string };

export interface Inbox {
  /** *Contract:* durable once it resolves; from any process; order per sender kept. */
  offer(session: string, offer: InboxMessage): Promise<Failure | undefined>;
  /** *Contract:* the offers not yet taken, oldest first; they stay until `taken`. */
  pending(session: string): Promise<readonly { readonly id: string; readonly offer: InboxMessage }[]>;
  /** *Contract:* only the owner calls it. Forgets offers, after the events made of them are in the log. */
  taken(session: string, ids: readonly string[]): Promise<void>;
  /** *Contract:* calls back within 250 ms of an offer by any process; returns the way to stop. */
  watch(session: string, listener: () => void): () => void;
}

export interface Blobs {
  /**
   * *Contract:* content-addressed (sha256 hex), atomic, idempotent; survives a power cut unless `durable` is false,
   * and is then either whole or not there for `get`.
   */
  put(text: string, options?: { readonly durable: boolean }): Promise<string | Failure>;
  get(hash: string): Promise<string | Failure>;
}
