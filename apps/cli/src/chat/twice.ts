/** A key that does more when it is pressed again soon, and announces that meanwhile. */

const againMs = 2_000;

export class Twice {
  readonly #changed: () => void;
  #until = 0;

  /** `changed`: called when the effect of another press changes. */
  constructor(changed: () => void) {
    this.#changed = changed;
  }

  /** Whether another press would count as the second. */
  get isArmed(): boolean {
    return performance.now() < this.#until;
  }

  /** Whether this was the second press; the one after it counts as a first. */
  press(): boolean {
    const isSecond = this.isArmed;
    this.#until = isSecond ? 0 : performance.now() + againMs;
    this.#changed();
    if (!isSecond) setTimeout(this.#changed, againMs).unref();
    return isSecond;
  }

  /** Resets after another key. */
  forget(): void {
    this.#until = 0;
  }
}
