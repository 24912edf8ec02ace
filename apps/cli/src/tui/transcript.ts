/** Transcript: what happens in a session as lines: those that stay, and those of what goes on now. */
import { type Delta, type Event, messageText, type Session, type Todo, withoutMark } from "@lathe/protocol";
import {
  answerText,
  callLines,
  callsAfter,
  callsDuring,
  callTarget,
  createRemarks,
  duration,
  endWord,
  finishedCall,
  fit,
  harmless,
  type LiveCalls,
  money,
  noCalls,
  problemOf,
  runningCalls,
  type Theme,
  toldText,
  withCall,
  withoutRunning,
  wrap,
} from "@lathe/terminal";
import { MarkdownStream } from "@lathe/terminal/markdown-stream";

const spinner = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const spinnerMs = 120;
const todosShown = 5;

export class Transcript {
  readonly #width: () => number;
  #theme: Theme;
  #stream: MarkdownStream;
  #lines: string[] = [];
  #live: LiveCalls = noCalls;
  /** What goes on besides calls. */
  #activity: { readonly text: () => string; readonly since: number } | undefined;
  #todos: readonly Todo[] = [];
  #hasSpoken = false;
  #turn = newTurn(0);
  #attemptCost = 0;
  /** Of requests that go on, what they may cost at most. */
  readonly #reserved = new Map<string, number>();
  readonly #remarkOn = createRemarks();
  /** Of work that is no turn. */
  #during: (() => readonly string[]) | undefined;

  constructor(theme: Theme, width: () => number) {
    this.#theme = theme;
    this.#width = width;
    this.#stream = new MarkdownStream(theme);
  }

  /** *Contract:* of an empty stream only; what was printed stays as it is. */
  restyle(theme: Theme): void {
    this.#theme = theme;
    if (this.#stream.isEmpty) this.#stream = new MarkdownStream(theme);
  }

  print(lines: readonly string[]): void {
    for (const one of lines) this.#lines.push(one);
  }

  /** What is shown as long as it goes on. */
  during(lines: (() => readonly string[]) | undefined): void {
    this.#during = lines;
  }

  /** Lines that stay, each once. */
  take(): readonly string[] {
    const lines = [...this.#lines, ...this.#stream.take(this.#width())];
    this.#lines = [];
    return lines;
  }

  /** What goes on now, in at most `room` lines. */
  live(room: number): readonly string[] {
    const steps = this.#steps();
    const todos = this.#todoLines();
    const bottom = [...(this.#during?.() ?? []), ...steps, ...todos].slice(0, Math.max(1, room));
    const text = this.#stream.tail(this.#width(), Math.max(0, room - bottom.length - 1));
    return text.length > 0 && bottom.length > 0 ? [...text, "", ...bottom] : [...text, ...bottom];
  }

  /** One line of what goes on now, for those to whom nothing is redrawn. */
  activity(): string | undefined {
    const [call] = runningCalls(this.#live);
    if (call) return `${call.tool} ${callTarget(call.input, call.effects)}`;
    return this.#during?.().join("; ") ?? this.#activity?.text();
  }

  /** Nothing is at work now, whatever happened last. */
  rest(): void {
    this.#activity = undefined;
    this.#live = withoutRunning(this.#live);
  }

  event(event: Event, session: Session): void {
    this.#todos = session.todos;
    const before = this.#live;
    this.#live = callsAfter(before, event);
    switch (event.type) {
      case "message.received":
        this.#said(event);
        break;
      case "step.started":
        this.#does(() => `${nameOf(event.data.model)} is thinking`, event.at);
        break;
      case "budget.reserved":
        this.#reserved.set(event.data.attempt, event.data.cost ?? 0);
        break;
      case "budget.settled":
        this.#settled(event);
        break;
      case "step.completed":
        this.#answered(event);
        break;
      case "tool.completed":
        this.#finished(event, before);
        break;
      case "turn.ended":
        this.#ended(event);
        break;
      default:
        this.#happened(event);
    }
  }

  delta(delta: Delta): void {
    this.#live = callsDuring(this.#live, delta);
    switch (delta.type) {
      case "text":
        this.#startText();
        this.#stream.push(delta.text);
        break;
      case "reasoning":
        break;
      case "void":
        if (this.#stream.discard()) this.#note("the text above broke off and is discarded");
        this.#hasSpoken = false;
        break;
      case "output":
      case "progress":
        break;
      case "status":
        this.#does(() => delta.text, Date.now());
        break;
      case "waiting":
        this.#does(
          () => `waiting ${duration(Math.max(0, delta.until - Date.now()))}: ${delta.why}`,
          Date.now(),
        );
        break;
    }
  }

  /** A command that a person typed, as long as it runs. */
  typed(command: string | undefined): void {
    const input = JSON.stringify({ command });
    const call = command === undefined ? undefined : { tool: "!", input, effects: [], startedAt: Date.now() };
    this.#live = withCall(this.#live, "typed", call);
  }

  #said({ data, at }: Event<"message.received">): void {
    const { bold, cyan, dim } = this.#theme;
    this.#live = { ...this.#live, isCancelled: false };
    // Words that steer a turn begin none.
    if (this.#turn.startedAt === 0) this.#turn = newTurn(at);
    const said = harmless(messageText(data.parts)).trimEnd();
    if (data.ended) {
      this.print(["", ...this.#dimmed(toldText(withoutMark(said)))]);
      return;
    }
    const images = data.parts.filter(({ type }) => type === "image").length;
    const note = images > 0 ? [dim(`  ${images} ${images === 1 ? "image" : "images"}`)] : [];
    const text = said.split("\n");
    const lines = text.flatMap((line) => wrapped(line, this.#width() - 2));
    this.print(["", ...lines.map((line, row) => `${cyan(row === 0 ? "›" : " ")} ${bold(line)}`), ...note]);
  }

  /** What a request has cost that broke off nobody says: all that it may have is counted. */
  #settled({ data: { attempt, cost = 0 } }: Event<"budget.settled">): void {
    if (cost > 0 && cost === this.#reserved.get(attempt)) this.#turn.isAtMost = true;
    this.#reserved.delete(attempt);
    this.#attemptCost = cost;
    this.#turn.cost += cost;
  }

  #startText(): void {
    if (!this.#hasSpoken) this.print([""]);
    this.#hasSpoken = true;
  }

  #answered({ data }: Event<"step.completed">): void {
    const { dim } = this.#theme;
    this.#activity = undefined;
    this.#turn.steps++;
    const text = data.parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");
    if (!this.#hasSpoken && text.trim() !== "") {
      this.#startText();
      this.#stream.push(text);
    }
    this.#stream.end();
    this.print(this.#stream.take(this.#width()));
    this.#hasSpoken = false;
    const calls = data.parts.filter((part) => part.type === "tool-call");
    const cost = this.#attemptCost > 0 ? ` · ${money(this.#attemptCost)}` : "";
    if (calls.length > 0) this.print([dim(`  step ${this.#turn.steps} · ${duration(data.ms)}${cost}`)]);
  }

  #finished(event: Event<"tool.completed">, before: LiveCalls): void {
    const view = { paint: this.#theme, width: this.#width(), whole: "/output" };
    this.print(callLines(finishedCall(before, event), view));
  }

  #ended(event: Event<"turn.ended">): void {
    const { data, at } = event;
    const { dim, green, red, yellow } = this.#theme;
    this.#activity = undefined;
    this.#live = { ...this.#live, calls: noCalls.calls };
    this.#stream.end();
    this.print(this.#stream.take(this.#width()));
    this.#hasSpoken = false;
    const { startedAt, steps, cost, isAtMost } = this.#turn;
    this.#turn = newTurn(0);
    const problem = problemOf(data.end);
    const word = endWord(data.end);
    const isStopped = data.end.type === "cancelled";
    const head = problem === undefined ? green(word) : isStopped ? yellow(word) : red(word);
    const took = `${steps} ${steps === 1 ? "step" : "steps"} · ${duration(Math.max(0, at - startedAt))}`;
    const why =
      problem === undefined || isStopped
        ? []
        : wrap(problem, this.#width() - 2).map((line) => red(`  ${line}`));
    this.print([
      "",
      `${head} ${dim(`· ${took}${cost > 0 ? ` · ${isAtMost ? "at most " : ""}${money(cost)}` : ""}`)}`,
      ...why,
    ]);
    const remark = this.#remarkOn(event);
    if (remark) this.#note(remark.text);
  }

  /** What concerns neither an answer nor a call. */
  #happened(event: Event): void {
    if (event.type === "cancel.requested") {
      this.#does(() => "stopping", event.at);
    }
    if (event.type === "question.answered")
      this.print([this.#theme.dim(`  ${event.data.by} answered: ${answerText(event.data)}`)]);
    const remark = this.#remarkOn(event);
    if (remark?.tone === "quiet") this.print(this.#dimmed(harmless(remark.text)));
    if (remark?.tone === "warning") this.#note(remark.text);
  }

  #dimmed(text: string): readonly string[] {
    return wrapped(text, this.#width() - 2).map((line) => this.#theme.dim(line));
  }

  #note(text: string): void {
    const { yellow } = this.#theme;
    const [first = "", ...more] = wrap(text, this.#width() - 2);
    this.print([yellow(`! ${first}`), ...more.map((line) => yellow(`  ${line}`))]);
  }

  #does(text: () => string, since: number): void {
    this.#activity = { text, since };
  }

  #steps(): readonly string[] {
    const { bold, cyan, dim } = this.#theme;
    const now = Date.now();
    const frame = cyan(spinner[Math.floor(now / spinnerMs) % spinner.length] ?? "");
    const since = (at: number): string => seconds(Math.max(0, now - at));
    const calls = runningCalls(this.#live).flatMap((call) => {
      const time = since(call.startedAt ?? now);
      const target = fit(callTarget(call.input, call.effects), Math.max(8, this.#width() - time.length - 18));
      const head = `${frame} ${bold(call.tool.padEnd(10))} ${target}  ${dim(time)}`;
      return call.progress ? [head, dim(fit(`    ${call.progress}`, this.#width()))] : [head];
    });
    if (calls.length > 0 || !this.#activity) return calls;
    const { text, since: at } = this.#activity;
    return [`${frame} ${dim(fit(`${text()}, ${since(at)}`, this.#width() - 2))}`];
  }

  #todoLines(): readonly string[] {
    const open = this.#todos.filter(({ state }) => state !== "done");
    if (open.length === 0 || this.#turn.startedAt === 0) return [];
    const { dim, green } = this.#theme;
    const done = this.#todos.length - open.length;
    const shown = open.slice(0, todosShown).map(({ state, text }) => {
      const line = fit(text, this.#width() - 6);
      return state === "doing" ? `  ${green("›")} ${line}` : `  ${dim(`· ${line}`)}`;
    });
    const rest = open.length - shown.length;
    const more = rest > 0 ? `, ${rest} more` : "";
    return [dim(`  to do: ${done} of ${this.#todos.length} done${more}`), ...shown];
  }
}

function newTurn(startedAt: number): { startedAt: number; steps: number; cost: number; isAtMost: boolean } {
  return { startedAt, steps: 0, cost: 0, isAtMost: false };
}

function nameOf(model: string): string {
  return model.slice(model.indexOf("/") + 1);
}

/** Without a fraction that would be redrawn all the time. */
function seconds(ms: number): string {
  return ms < 60_000 ? `${Math.floor(ms / 1000)} s` : duration(ms);
}

/** Broken between words, with the spaces it begins with. */
function wrapped(line: string, width: number): readonly string[] {
  return line.length <= width ? [line] : wrap(line, width);
}
