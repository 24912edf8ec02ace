/** Endings: hears when one of the commands in the background has ended. */
import type { BackgroundProcess } from "./process-title.ts";

export class Endings {
  readonly #changed: () => void;
  readonly #heard: () => void;
  readonly #known = new WeakSet<Promise<unknown>>();
  /** What the person has begun and not ended: commands, with the choices they offer. */
  #begun = 0;

  /** `changed` is called at once, `heard` when the person is in the midst of nothing. */
  constructor(changed: () => void, heard: () => void) {
    this.#changed = changed;
    this.#heard = heard;
  }

  /** How many of them run; of each of these the end is told. */
  running(processes: readonly BackgroundProcess[]): number {
    const running = processes.filter(({ isRunning }) => isRunning);
    for (const { exited } of running) {
      if (this.#known.has(exited)) continue;
      this.#known.add(exited);
      void exited.then(() => {
        this.#changed();
        this.tell();
      });
    }
    return running.length;
  }

  /** *Contract:* what ends before the work is done is heard after it. */
  async after(work: () => Promise<void>): Promise<void> {
    this.#begun++;
    await work().finally(() => this.#begun--);
    this.tell();
  }

  /** What ended before is heard now, if it can be. */
  tell(): void {
    if (this.#begun === 0) this.#heard();
  }
}
