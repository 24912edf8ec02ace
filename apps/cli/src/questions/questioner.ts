/** Questioner: asks the person at the terminal what the agent wants to know, one question after the other. */
import type { Writable } from "node:stream";
import { type AskedCall, answerOf, questionText } from "@lathe/client";
import { type EditPart, type Event, type Failure, isSettledBy } from "@lathe/protocol";
import { paletteFor } from "@lathe/terminal";
import { problemLine } from "../command-line/show-failure.ts";
import { type AnswerInput, AnswerReader } from "./answer-reader.ts";

interface Answerable {
  answer(call: string, question: number, answer: string, part?: EditPart): Promise<Failure | undefined>;
  cancel(by: string): Promise<Failure | undefined>;
  askedCall(call: string): Promise<AskedCall>;
}

type Asked = Event<"question.asked">["data"] & { readonly seq: number };

interface Heard {
  readonly answer: string;
  readonly part?: EditPart;
}

export class Questioner {
  readonly #paint = paletteFor(process.stdout, process.env);
  readonly #open: Asked[] = [];
  readonly #reader: AnswerReader;
  readonly #output: Writable;
  #session: Answerable | undefined;
  #isAsking = false;
  #unanswered: string | undefined;

  constructor(input: AnswerInput = process.stdin, output: Writable = process.stdout) {
    this.#reader = new AnswerReader(input);
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
    if (event.type === "question.asked") this.#add({ ...event.data, seq: event.seq });
    if (event.type === "turn.ended") this.close();
  }

  close(): void {
    this.#open.length = 0;
    this.#reader.close();
  }

  #add(asked: Asked): void {
    this.#open.push(asked);
    if (!this.#isAsking) void this.#ask();
  }

  async #ask(): Promise<void> {
    this.#isAsking = true;
    for (let asked = this.#open[0]; asked; asked = this.#open[0]) {
      const heard = await this.#hear(asked);
      if (heard === undefined) {
        await this.#ended();
        break;
      }
      const { answer, part } = heard;
      const settled = this.#open.filter((other) => other === asked || isSettledBy(other, asked, answer));
      this.#forget(settled);
      const refused = await this.#session?.answer(asked.call, asked.seq, answer, part);
      // Asked once more when the answer could not be kept.
      if (!refused) continue;
      process.stderr.write(problemLine(refused.text));
      this.#open.push(...settled);
    }
    this.#isAsking = false;
  }

  #forget(gone: readonly Asked[]): void {
    const left = this.#open.filter((one) => !gone.includes(one));
    this.#open.splice(0, this.#open.length, ...left);
  }

  /** Undefined when nobody answers any more. */
  async #hear(asked: Asked): Promise<Heard | undefined> {
    const call = await this.#session?.askedCall(asked.call);
    // The turn may have ended meanwhile.
    if (this.#open[0] !== asked) return undefined;
    this.#output.write(questionText(asked, call, this.#paint));
    for (;;) {
      const words = await this.#next();
      const heard = words === undefined ? undefined : await this.#meant(asked, call, words);
      if (words === undefined || heard) return heard;
    }
  }

  #next(): Promise<string | undefined> {
    return this.#reader.next(() => this.#output.write("> "));
  }

  /** Undefined when the words decide nothing yet. */
  async #meant(asked: Asked, call: AskedCall, words: string): Promise<Heard | undefined> {
    const files = call?.hasParts ? call.files : undefined;
    if (files && /^h(unks?)?$/i.test(words)) return this.#walk(asked, call, files);
    const part = files && (await import("@lathe/client/hunk-numbers")).partOfNumbers(words, files);
    if (typeof part === "string") this.#output.write(`${part}\n`);
    if (part !== undefined) return typeof part === "string" ? undefined : { answer: "allow", part };
    const answer = answerOf(asked, words);
    return answer === undefined ? undefined : { answer };
  }

  /** Hunk by hunk; left, the question stands there again. */
  async #walk(
    asked: Asked,
    call: AskedCall,
    files: NonNullable<NonNullable<AskedCall>["files"]>,
  ): Promise<Heard | undefined> {
    const { walkInLines } = await import("./walk-in-lines.ts");
    const output = (text: string): unknown => this.#output.write(text);
    const part = await walkInLines(files, { paint: this.#paint, output, next: () => this.#next() });
    if (part) return { answer: "allow", part };
    this.#output.write(questionText(asked, call, this.#paint));
    return undefined;
  }

  /** The input ended, with Ctrl-D or with the terminal: what is open is denied, and the turn ends. */
  async #ended(): Promise<void> {
    const open = this.#open.splice(0);
    const [asked] = open;
    this.#reader.close();
    if (!asked) return;
    this.#unanswered = asked.text;
    this.#output.write("\n");
    for (const { call, seq } of open) await this.#session?.answer(call, seq, "deny");
    const refused = await this.#session?.cancel("the end of the input");
    // A turn that cannot be told to end is ended with us.
    if (refused) process.emit("SIGHUP", "SIGHUP");
  }
}
