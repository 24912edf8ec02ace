/** Collects the marked lines of one hunk of a patch. */
import type { Hints, Hunk } from "../hunk.ts";

const noNewline = /^\\ No newline/i;

interface Line {
  readonly mark: " " | "+" | "-";
  readonly text: string;
  /** As it was written, with its marker if it had one. */
  readonly raw: string;
}

/** A hunk whose lines are still to come. */
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
    // A line without a marker is one of the file that lost its leading space.
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

  /** How many lines it names of the file, and of the new one. */
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

  /** Then a line begins with something else, or the added lines, which have theirs, stand no further out than others. */
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
