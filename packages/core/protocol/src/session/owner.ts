/** Owner: the one process that may append to a session. */

/** Who owns a session, so that others can tell whether it is still alive. */
export interface Owner {
  readonly host: string;
  readonly pid: number;
  /** Start of the process, to tell it from a later one with the same pid. */
  readonly startedAt: number;
}
