/** Event type: its name, its schema, and its part in the fold. */
import type * as v from "valibot";
import type { Session } from "./session.ts";

/** A durable fact. `seq` is gapless per session from 1; `parent` is the `seq` it follows (0 for the first). */
export interface Envelope<Name extends string, Data> {
  readonly v: number;
  readonly session: string;
  readonly seq: number;
  readonly parent: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly type: Name;
  readonly data: Data;
}

export interface EventType<Name extends string, Data> {
  readonly name: Name;
  /** Version of `data`; `upcast` converts older ones on read. */
  readonly version: number;
  readonly schema: v.GenericSchema<unknown, Data>;
  /** *Contract:* pure and total. */
  apply(session: Session, event: Envelope<Name, Data>): Session;
  /**
   * *Contract:* pure; converts data of an older version to this one. Absent while there is only one version.
   */
  upcast?(data: unknown): unknown;
}
