/** Keeps long work from holding up everything else in the process, and from taking longer than it may. */
import { type Failure, failure } from "@lathe/protocol";

const sliceMs = 8;

export class Pace {
  readonly #deadline: number;
  readonly #budgetMs: number;
  #restedAt = performance.now();

  constructor(budgetMs: number) {
    this.#budgetMs = budgetMs;
    this.#deadline = performance.now() + budgetMs;
  }

  get due(): boolean {
    return performance.now() - this.#restedAt > sliceMs;
  }

  /** Lets others run; a failure when the time is used up. */
  async rest(): Promise<Failure | undefined> {
    await new Promise<void>((resolve) => setImmediate(resolve));
    this.#restedAt = performance.now();
    if (this.#restedAt < this.#deadline) return undefined;
    return failure("too-large", `The checkpoint took longer than ${this.#budgetMs} ms and was given up.`, {
      who: "host",
      retry: "same",
    });
  }
}
