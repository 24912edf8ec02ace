/** Report: the content of a runner's machine-readable output. */

export interface Report {
  readonly runner: string;
  readonly failing: readonly string[];
  /** One line per failure, with repetitions. */
  readonly errors: readonly string[];
  readonly counts: readonly string[];
  /** Texts about failures, in which places are found. */
  readonly words: readonly string[];
}

export interface Reported {
  readonly report: Report;
  /** The text around the report. */
  readonly rest: string;
}
