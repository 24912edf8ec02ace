/** Twice: a key that does more when it is pressed again soon, and says so meanwhile. */

const againMs = 2_000;

export class Twice {
  readonly #changed: () => void;
  #until = 0;

  /** `changed`: the second press would do something now, or no longer. */
  constructor(changed: () => void) {
    this.#changed = changed;
  }

  /** Whether another press would be the second. */
  get isArmed(): boolean {
    return performance.now() < this.#until;
  }

  /** Whether this was the second press; the next one is a first again. */
  press(): boolean {
    const isSecond = this.isArmed;
    this.#until = isSecond ? 0 : performance.now() + againMs;
    this.#changed();
    if (!isSecond) setTimeout(this.#changed, againMs).unref();
    return isSecond;
  }

  /** Another key came between. */
  forget(): void {
    this.#until = 0;
  }
}
