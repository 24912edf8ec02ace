/** Tracks whether the terminal has the focus, and rings its bell when an absent person is needed. */

/** Asks the terminal to report focus changes; terminals that do not support this ignore it. */
export const focusReports = { on: "\u001b[?1004h", off: "\u001b[?1004l" };

const focus = { got: "\u001b[I", lost: "\u001b[O" };
const bell = "\u0007";

export class Attention {
  readonly #ring: (bell: string) => void;
  /** Assume that the person is present until the terminal reports otherwise. */
  #isAway = false;

  constructor(ring: (bell: string) => void) {
    this.#ring = ring;
  }

  /** Whether the key was a focus report instead. */
  hears(key: string): boolean {
    if (key !== focus.got && key !== focus.lost) return false;
    this.#isAway = key === focus.lost;
    return true;
  }

  /** Rings if the person is away. `isLent`: another program has the terminal. */
  call(isLent: boolean): void {
    if (this.#isAway || isLent) this.#ring(bell);
  }
}
