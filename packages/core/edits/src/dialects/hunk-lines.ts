/** Collects the marked lines of one hunk of a patch. */
import type { Hints, Hunk } from "../hunk.ts";

const noNewline = /^\\ No newline/i;

interface Line {
  readonly mark: " " | "+" | "-";
  readonly text: string;
  /** The line as written, including its marker. */
  readonly raw: string;
}

/** A hunk that receives its lines one by one. */
export class HunkLines {
  readonly #lines: Line[] = [];
  /** Blank lines without a marker: context, unless they only end the hunk. */
  readonly #blanks: Line[] = [];
  #oldEnds = false;
  #newEnds = false;

  add(line: string): void {
    const last = this.#lines.at(-1)?.mark ?? " ";
    if (noNewline.test(line)) {
      this.#oldEnds ||= last !== "+";
      this.#newEnds ||= last !== "-";
      return;
    }
    if (line === "") {
      this.#blanks.push({ mark: " ", text: "", raw: "" });
      return;
    }
    this.keepBlanks();
    const mark = line[0];
    // A line without a marker is a line of the file that lost its leading space.
    const isMarked = mark === " " || mark === "+" || mark === "-";
    this.#lines.push({ mark: isMarked ? mark : " ", text: isMarked ? line.slice(1) : line, raw: line });
  }

  /** The blank lines so far belong to the hunk. */
  keepBlanks(): void {
    for (const one of this.#blanks.splice(0)) this.#lines.push(one);
  }

  get isEmpty(): boolean {
    return this.#lines.length === 0;
  }

  /** The number of lines of the old file, and of the new one. */
  get counts(): { readonly old: number; readonly new: number } {
    const count = (mark: "+" | "-"): number => this.#lines.filter((line) => line.mark !== mark).length;
    return { old: count("+"), new: count("-") };
  }

  hunk(hints: Hints): Hunk {
    const marked = this.#sides(hints, ({ text }) => text);
    if (!this.#lines.some(({ mark, raw }) => mark === " " && raw.startsWith(" "))) return marked;
    const unmarked = this.#sides(hints, ({ mark, text, raw }) => (mark === " " ? raw : text));
    return { ...marked, unmarked: { hunk: unmarked, likely: this.#mayLackMarkers() } };
  }

  /**
   * Whether markers may be missing: a line begins with another character, or the added lines are indented at
   * least as far as others.
   */
  #mayLackMarkers(): boolean {
    if (this.#lines.some(({ mark, text, raw }) => mark === " " && text === raw && raw !== "")) return true;
    const context = this.#lines.filter(({ mark, raw }) => mark === " " && raw.trim() !== "");
    const added = this.#lines.filter(({ mark, text }) => mark === "+" && text.trim() !== "");
    const around = Math.min(...context.map(({ raw }) => raw.search(/\S/)));
    return around > 0 && context.length > 0 && added.every(({ text }) => text.search(/\S/) >= around);
  }

  #sides(hints: Hints, textOf: (line: Line) => string): Hunk {
    const old: string[] = [];
    const fresh: string[] = [];
    const kept: (number | undefined)[] = [];
    for (const line of this.#lines) {
      if (line.mark !== "-") {
        kept.push(line.mark === " " ? old.length : undefined);
        fresh.push(textOf(line));
      }
      if (line.mark !== "+") old.push(textOf(line));
    }
    const ends =
      this.#oldEnds === this.#newEnds ? {} : ({ finalNewline: this.#oldEnds ? "added" : "removed" } as const);
    return { old, new: fresh, unit: "lines", kept, hints, ...ends };
  }
}
