/** Questioner: asks the person at the terminal what the agent wants to know, one question after the other. */
import type { Interface } from "node:readline";
import type { Event } from "@lathe/protocol";
import { harmless } from "./render/fit.ts";
import { paletteFor } from "./render/palette.ts";

interface Answerable {
  answer(call: string, answer: string): Promise<unknown>;
}

type Asked = Event<"question.asked">["data"];

export class Questioner {
  readonly #paint = paletteFor(process.stdout, process.env);
  readonly #open: Asked[] = [];
  #session: Answerable | undefined;
  #lines: Interface | undefined;

  /** Where the answers go. */
  attach(session: Answerable): void {
    this.#session = session;
  }

  event(event: Event): void {
    if (event.type === "question.asked") {
      this.#open.push(event.data);
      if (this.#open.length === 1) void this.#ask();
    }
    if (event.type === "turn.ended") this.close();
  }

  close(): void {
    this.#open.length = 0;
    this.#lines?.close();
    this.#lines = undefined;
  }

  async #ask(): Promise<void> {
    const [asked] = this.#open;
    if (!asked) return;
    process.stdout.write(this.#questionText(asked));
    if (this.#lines) return;
    const { createInterface } = await import("node:readline");
    // The terminal edits the line itself, so that Ctrl-C stays a signal.
    this.#lines = createInterface({ input: process.stdin, terminal: false });
    this.#lines.on("line", (line) => this.#answered(line.trim()));
    this.#lines.on("close", () => {
      this.#lines = undefined;
    });
  }

  #questionText({ kind, text, options }: Asked): string {
    const { bold, yellow, dim } = this.#paint;
    const list = options.map((option, i) => `  ${i + 1}. ${harmless(option)}\n`).join("");
    const how =
      kind === "permission" ? "[y]es, [n]o, or say what to do instead" : "a number, or your own words";
    const hint = kind === "permission" || options.length > 0 ? `${dim(how)} ` : "";
    return `\n${yellow("?")} ${bold(harmless(text))}\n${kind === "question" ? list : ""}${hint}> `;
  }

  #answered(line: string): void {
    const [asked] = this.#open;
    if (!asked) return;
    const answer = asked.kind === "permission" ? permissionOf(line) : optionOf(line, asked.options);
    if (answer === undefined) {
      process.stdout.write("> ");
      return;
    }
    this.#open.shift();
    void this.#session?.answer(asked.call, answer);
    void this.#ask();
  }
}

function permissionOf(line: string): string | undefined {
  if (/^(y|yes)$/i.test(line)) return "allow";
  if (/^(n|no)$/i.test(line)) return "deny";
  return line === "" ? undefined : line;
}

function optionOf(line: string, options: readonly string[]): string | undefined {
  if (/^\d+$/.test(line)) return options[Number(line) - 1] ?? line;
  return line === "" ? undefined : line;
}
