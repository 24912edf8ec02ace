/** Text that stays, and below it one status line that is redrawn while something takes time. */

import type { Palette } from "../colour/palette.ts";
import { columnsOf, fit } from "../text/fit.ts";

const frames = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/** What turns while something takes time, after so many turns. */
export function spinnerFrame(turns: number): string {
  return frames[Math.floor(turns) % frames.length] ?? "";
}

const redrawMs = 100;
/** Work that ends sooner shows no status: it would flicker, or fill a pipe with lines. */
const patienceMs = { terminal: 300, pipe: 2000 };

export class Screen {
  readonly paint: Palette;
  readonly #out: NodeJS.WriteStream;
  #status: (() => string) | undefined;
  #since = 0;
  #drawn = false;
  #atLineStart = true;
  #timer: NodeJS.Timeout | undefined;

  constructor(out: NodeJS.WriteStream, paint: Palette) {
    this.#out = out;
    this.paint = paint;
  }

  get width(): number {
    return columnsOf(this.#out);
  }

  /** Text that stays; the status line goes away and comes back below it. */
  write(text: string): void {
    if (text === "") return;
    this.#erase();
    this.#out.write(text);
    this.#atLineStart = text.endsWith("\n");
  }

  /** One or more whole lines, begun on a line of their own. */
  line(text: string): void {
    this.write(`${this.#atLineStart ? "" : "\n"}${text}\n`);
  }

  /** An empty line, so that what follows stands apart. */
  paragraph(): void {
    this.write(this.#atLineStart ? "\n" : "\n\n");
  }

  /** Ends the line that was begun. */
  endLine(): void {
    if (!this.#atLineStart) this.write("\n");
  }

  /** Sets or removes the status; the text is computed at every redraw. */
  status(text: (() => string) | undefined): void {
    this.#erase();
    this.#status = text;
    this.#since = performance.now();
    clearInterval(this.#timer);
    if (text) this.#timer = setInterval(() => this.#draw(), redrawMs).unref();
  }

  /** Ends the status line and leaves the cursor at the start of a line. */
  close(): void {
    this.status(undefined);
    this.endLine();
  }

  #draw(): void {
    const elapsed = performance.now() - this.#since;
    if (!this.#status || !this.#atLineStart) return;
    if (!this.#out.isTTY) {
      this.#tell(elapsed);
      return;
    }
    if (elapsed < patienceMs.terminal) return;
    const text = fit(this.#status(), this.width - 4);
    this.#out.write(
      `\r\u001b[2K${this.paint.cyan(spinnerFrame(elapsed / redrawMs))} ${this.paint.dim(text)}`,
    );
    this.#drawn = true;
  }

  /** A pipe gets the status once, as a line of its own. */
  #tell(elapsed: number): void {
    if (elapsed < patienceMs.pipe || !this.#status) return;
    clearInterval(this.#timer);
    this.#out.write(`${this.paint.dim(`… ${fit(this.#status(), this.width - 2)}`)}\n`);
  }

  #erase(): void {
    if (!this.#drawn) return;
    this.#out.write("\r\u001b[2K");
    this.#drawn = false;
  }
}
