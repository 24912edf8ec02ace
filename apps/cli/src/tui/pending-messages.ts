/** Messages typed while the agent works that it has not read yet. */

export class PendingMessages {
  readonly #changed: () => void;
  #texts: readonly string[] = [];

  constructor(changed: () => void) {
    this.#changed = changed;
  }

  get texts(): readonly string[] {
    return this.#texts;
  }

  add(text: string): void {
    this.#texts = [...this.#texts, text];
    this.#changed();
  }

  /** Nothing where it does not wait. */
  heard(text: string): void {
    const at = this.#texts.indexOf(text);
    if (at >= 0) this.#texts = this.#texts.toSpliced(at, 1);
    this.#changed();
  }

  clear(): void {
    this.#texts = [];
    this.#changed();
  }
}
