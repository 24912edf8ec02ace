/** Questioner: asks the person at the terminal what the agent wants to know, one question after the other. */
import type { Interface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import type { Event, Failure } from "@lathe/protocol";
import { harmless } from "./render/fit.ts";
import { paletteFor } from "./render/palette.ts";
import { problemLine } from "./show-failure.ts";

interface Answerable {
  answer(call: string, answer: string): Promise<Failure | undefined>;
  cancel(by: string): Promise<Failure | undefined>;
}

type Asked = Event<"question.asked">["data"];

export class Questioner {
  readonly #paint = paletteFor(process.stdout, process.env);
  readonly #open: Asked[] = [];
  #session: Answerable | undefined;
  #lines: Interface | undefined;
  readonly #input: Readable;
  readonly #output: Writable;
  #unanswered: string | undefined;

  constructor(input: Readable = process.stdin, output: Writable = process.stdout) {
    this.#input = input;
    this.#output = output;
  }

  /** The question at which the input ended, if it did: nobody answers any more. */
  get unanswered(): string | undefined {
    return this.#unanswered;
  }

  /** Where the answers go. */
  attach(session: Answerable): void {
    this.#session = session;
  }

  event(event: Event): void {
    if (event.type === "question.asked") this.#add(event.data);
    if (event.type === "turn.ended") this.close();
  }

  close(): void {
    this.#open.length = 0;
    this.#lines?.close();
    this.#lines = undefined;
  }

  #add(asked: Asked): void {
    this.#open.push(asked);
    if (this.#open.length === 1) void this.#ask();
  }

  async #ask(): Promise<void> {
    const [asked] = this.#open;
    if (!asked) return;
    this.#output.write(this.#questionText(asked));
    if (this.#lines) return;
    const { createInterface } = await import("node:readline");
    // The terminal edits the line itself, so that Ctrl-C stays a signal.
    this.#lines = createInterface({ input: this.#input, terminal: false });
    this.#lines.on("line", (line) => this.#answered(line.trim()));
    this.#lines.on("close", () => void this.#ended());
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
      this.#output.write("> ");
      return;
    }
    void this.#answer(asked, answer);
  }

  /** Asks once more when the answer could not be kept. */
  async #answer(asked: Asked, answer: string): Promise<void> {
    this.#open.shift();
    void this.#ask();
    const refused = await this.#session?.answer(asked.call, answer);
    if (!refused) return;
    process.stderr.write(problemLine(refused.text));
    this.#add(asked);
  }

  /** The input ended, with Ctrl-D or with the terminal: what is open is denied, and the turn ends. */
  async #ended(): Promise<void> {
    const open = this.#open.splice(0);
    const [asked] = open;
    this.#lines = undefined;
    if (!asked) return;
    this.#unanswered = asked.text;
    this.#output.write("\n");
    for (const { call } of open) await this.#session?.answer(call, "deny");
    const refused = await this.#session?.cancel("the end of the input");
    // A turn that cannot be told to end is ended with us.
    if (refused) process.emit("SIGHUP", "SIGHUP");
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
