/** Attention: whether somebody looks at this terminal, and its bell where somebody is waited for who looks elsewhere. */

/** The terminal is to say when it gets the focus and when it loses it; those that do not know it ignore it. */
export const focusReports = { on: "\u001b[?1004h", off: "\u001b[?1004l" };

const focus = { got: "\u001b[I", lost: "\u001b[O" };
const bell = "\u0007";

export class Attention {
  readonly #ring: (bell: string) => void;
  /** Until a terminal says so, nobody is away. */
  #isAway = false;

  constructor(ring: (bell: string) => void) {
    this.#ring = ring;
  }

  /** Whether this was no key but news of where the focus is. */
  hears(key: string): boolean {
    if (key !== focus.got && key !== focus.lost) return false;
    this.#isAway = key === focus.lost;
    return true;
  }

  /** `isLent`: another program has the terminal. */
  call(isLent: boolean): void {
    if (this.#isAway || isLent) this.#ring(bell);
  }
}
