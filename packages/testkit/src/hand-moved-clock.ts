/** Hand-moved clock: time stops until a test moves it. */
import type { Clock } from "@lathe/protocol";

export interface HandMovedClock extends Clock {
  /** Advances time and wakes the sleepers that are due, in order. */
  advance(ms: number): void;
  /** Number of current sleepers. */
  sleepers(): number;
}

export interface ClockOptions {
  /** Milliseconds since the epoch. */
  readonly start?: number;
  /** A sleep advances time by itself and resolves at once. */
  readonly leap?: boolean;
  /** The source of `random`. */
  readonly random?: () => number;
}

export function createHandMovedClock(options: ClockOptions = {}): HandMovedClock {
  const { start = 1_700_000_000_000, leap = false, random = () => 0.5 } = options;
  let now = start;
  let sleepers: { readonly due: number; readonly wake: () => void }[] = [];
  const wakeDue = () => {
    const due = sleepers.filter((sleeper) => sleeper.due <= now).sort((a, b) => a.due - b.due);
    sleepers = sleepers.filter((sleeper) => sleeper.due > now);
    for (const sleeper of due) sleeper.wake();
  };
  return {
    now: () => now,
    random,
    sleep: async (ms, signal) => {
      if (signal?.aborted || ms <= 0) return;
      if (leap) {
        now += ms;
        return;
      }
      await new Promise<void>((resolve) => {
        const sleeper = { due: now + ms, wake: resolve };
        sleepers.push(sleeper);
        const wake = (): void => {
          sleepers = sleepers.filter((other) => other !== sleeper);
          resolve();
        };
        signal?.addEventListener("abort", wake, { once: true });
      });
    },
    advance: (ms) => {
      now += ms;
      wakeDue();
    },
    sleepers: () => sleepers.length,
  };
}
