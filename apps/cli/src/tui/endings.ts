/** Endings: tells when one of the commands in the background has ended. */
import type { BackgroundProcess } from "./process-title.ts";

export class Endings {
  readonly #changed: () => void;
  readonly #known = new WeakSet<Promise<unknown>>();

  constructor(changed: () => void) {
    this.#changed = changed;
  }

  /** How many of them run; of each of these the end is told. */
  running(processes: readonly BackgroundProcess[]): number {
    const running = processes.filter(({ isRunning }) => isRunning);
    for (const { exited } of running) {
      if (this.#known.has(exited)) continue;
      this.#known.add(exited);
      void exited.then(this.#changed);
    }
    return running.length;
  }
}
