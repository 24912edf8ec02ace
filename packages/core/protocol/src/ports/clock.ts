/** Time and chance as a port, so that tests control them. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** *Contract:* resolves after `ms` or as soon as `signal` aborts, never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Uniform in [0, 1). */
  random(): number;
}
