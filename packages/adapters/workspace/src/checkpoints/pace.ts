/** Keeps long work from blocking the process, from exceeding its time, and from continuing after a cancel. */
import { type Failure, failure } from "@lathe/protocol";

const sliceMs = 8;

export class Pace {
  readonly signal: AbortSignal | undefined;
  readonly #deadline: number;
  readonly #budgetMs: number;
  #restedAt = performance.now();

  constructor(budgetMs: number, signal?: AbortSignal) {
    this.#budgetMs = budgetMs;
    this.signal = signal;
    this.#deadline = performance.now() + budgetMs;
  }

  get due(): boolean {
    return performance.now() - this.#restedAt > sliceMs;
  }

  get leftMs(): number {
    return Math.max(0, this.#deadline - performance.now());
  }

  /** Lets other work run; returns a failure if the time is used up, or on a cancel. */
  async rest(): Promise<Failure | undefined> {
    await new Promise<void>((resolve) => setImmediate(resolve));
    this.#restedAt = performance.now();
    if (this.signal?.aborted) return cancelled();
    if (this.#restedAt < this.#deadline) return undefined;
    return failure("too-large", `The checkpoint took longer than ${this.#budgetMs} ms and was given up.`, {
      who: "host",
      retry: "same",
    });
  }
}

export function cancelled(): Failure {
  return failure("cancelled", "The checkpoint was cancelled.", { retry: "same" });
}
