/** Report: what a runner says for programs, once it is read. */

export interface Report {
  readonly runner: string;
  readonly failing: readonly string[];
  /** One of each failure, in one line, as often as they came. */
  readonly errors: readonly string[];
  readonly counts: readonly string[];
  /** Words that are told of failures, with the places they name. */
  readonly words: readonly string[];
}

export interface Reported {
  readonly report: Report;
  /** What stands around it. */
  readonly rest: string;
}
