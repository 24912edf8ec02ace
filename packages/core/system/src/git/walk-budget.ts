/** Limits on the time and size of reading a repository; lets other work run meanwhile. */

/** The repository is too large, or the machine is too slow. */
export class BudgetError extends Error {}

const sliceMs = 8;
/** Reading the clock takes longer than most work between two readings. */
const everyEntries = 32;

export class WalkBudget {
  readonly #deadline: number;
  #left: number;
  #restedAt = performance.now();

  constructor({ ms, entries }: { readonly ms: number; readonly entries: number }) {
    this.#deadline = performance.now() + ms;
    this.#left = entries;
  }

  /** Called before each entry is read. *Contract:* throws `BudgetError` if the budget is spent. */
  spend(): void {
    this.#left--;
    if (this.#left < 0) throw new BudgetError("the repository has too many entries");
    if (this.#left % everyEntries === 0) this.check();
  }

  /** *Contract:* throws `BudgetError` if the time is over. */
  check(): void {
    if (performance.now() > this.#deadline) throw new BudgetError("the repository took too long to read");
  }

  get isRestDue(): boolean {
    return this.#left % everyEntries === 0 && performance.now() - this.#restedAt > sliceMs;
  }

  /** *Contract:* as `check`. */
  async rest(): Promise<void> {
    this.check();
    await new Promise<void>((resolve) => setImmediate(resolve));
    this.#restedAt = performance.now();
  }
}
