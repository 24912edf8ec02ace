/** Reports background commands that have finished. */
import type { BackgroundProcess } from "@lathe/client";
export const tiredText: string =
  "A command has ended. The agent has gone on by itself so often that it waits for a word of yours.";

export class FinishedCommands {
  readonly #changed: () => void;
  readonly #heard: (isNew: boolean) => void;
  readonly #known = new WeakSet<Promise<unknown>>();
  /** What the person has begun and not ended: commands, with the choices they offer. */
  #begun = 0;

  /** `changed` is called at once, `heard` when the person is in the midst of nothing; `isNew` for one that ends just then. */
  constructor(changed: () => void, heard: (isNew: boolean) => void) {
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
        this.tell(true);
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

  /** Whether the person is in the midst of nothing. */
  get isQuiet(): boolean {
    return this.#begun === 0;
  }

  /** What ended before is heard now, if it can be. */
  tell(isNew = false): void {
    if (this.isQuiet) this.#heard(isNew);
  }
}
