/** The messages between the test and the processes that open layouts. */
export interface LayoutRange {
  readonly from: number;
  readonly to: number;
  readonly step: number;
}

export interface LayoutReport {
  readonly seed: number;
  readonly about: string;
  readonly route: string;
  /** The names of the canaries that ran on the host. */
  readonly ran: readonly string[];
}
