/** The `text` format on a terminal: everything the agent does, as it does it. */
import type { Delta, Effect, Event, Session, SubagentProgress } from "@lathe/protocol";
import {
  afterCancel,
  callLines,
  callTarget,
  createRemarks,
  duration,
  endWord,
  fit,
  harmless,
  lastLines,
  problemOf,
  type Screen,
  subagentsText,
  summaryText,
} from "@lathe/terminal";
import type { Reporter, RunResult, RunStart } from "./reporter.ts";

/** A call of the latest answers that has no outcome yet. */
interface OpenCall {
  readonly tool: string;
  readonly input: string;
  readonly effects: readonly Effect[];
  readonly startedAt?: number;
  /** What it said last, for the status line. */
  readonly progress?: string;
  /** What its subagent was said to do last. */
  readonly doing?: string;
}

export class TerminalReporter implements Reporter {
  readonly #screen: Screen;
  readonly #calls = new Map<string, OpenCall>();
  /** Text of the running attempt that is already on the screen. */
  #shown = "";
  #steps = 0;
  #isCancelled = false;
  #isAsking = false;
  readonly #remarkOn = createRemarks();

  constructor(screen: Screen) {
    this.#screen = screen;
  }

  start(run: RunStart): void {
    const { paint } = this.#screen;
    const about = [run.models.join(" > "), `permissions: ${run.mode}`, run.cwd].join(" · ");
    this.#screen.line(`${paint.bold("lathe")} ${paint.dim(about)}`);
    this.#screen.status(() => "starting");
  }

  event(event: Event, _session: Session): void {
    switch (event.type) {
      case "step.started":
        this.#shown = "";
        this.#screen.status(() => `${event.data.model} is thinking, ${since(event.at)}`);
        break;
      case "step.completed":
        this.#answered(event);
        break;
      case "permission.decided":
        this.#update(event.data.call, { effects: event.data.effects });
        break;
      case "tool.started":
        this.#update(event.data.call, { startedAt: event.at });
        this.#showRunning();
        break;
      case "tool.denied":
        this.#stopped(event.data.call);
        break;
      case "question.asked":
        // Nothing may be drawn over what a person reads and types.
        this.#isAsking = true;
        this.#screen.status(undefined);
        break;
      case "question.answered":
        this.#isAsking = false;
        this.#showRunning();
        break;
      case "tool.completed":
        this.#finished(event);
        break;
      default:
        this.#happened(event);
    }
  }

  delta(delta: Delta): void {
    switch (delta.type) {
      case "text":
        this.#say(delta.text);
        break;
      case "reasoning":
        break;
      case "void":
        this.#discard();
        break;
      case "progress":
        if (delta.subagent) this.#working(delta.call, delta.text, delta.subagent);
        this.#update(delta.call, { progress: lastLines(delta.text, 1)[0] ?? "" });
        break;
      case "output":
        this.#update(delta.call, { progress: lastLines(delta.text, 1)[0] ?? "" });
        break;
      case "status":
        this.#screen.status(() => delta.text);
        break;
      case "waiting":
        this.#screen.status(() => `waiting ${duration(Math.max(0, delta.until - Date.now()))}: ${delta.why}`);
        break;
    }
  }

  end({ session, failure, ms, subagents }: RunResult): void {
    const { paint } = this.#screen;
    this.#screen.close();
    const problem = failure?.text ?? (session.lastEnd && problemOf(session.lastEnd));
    const word = failure ? "failed" : endWord(session.lastEnd);
    const head = problem === undefined ? paint.green(word) : paint.red(word);
    this.#screen.line(`\n${paint.bold(head)} ${paint.dim(`· ${summaryText(session, this.#steps, ms)}`)}`);
    if (subagents) this.#screen.line(paint.dim(subagentsText(subagents)));
    const back = session.checkpoints.some(({ ref }) => ref)
      ? ` · take it back: lathe sessions rewind ${session.id}`
      : "";
    this.#screen.line(paint.dim(`session ${session.id}${back}`));
  }

  /** What concerns neither an answer nor a call. */
  #happened(event: Event): void {
    if (event.type === "cancel.requested") this.#isCancelled = true;
    const remark = this.#remarkOn(event);
    if (!remark) return;
    const { paint } = this.#screen;
    if (remark.tone === "quiet") this.#screen.line(paint.dim(harmless(remark.text)));
    else this.#screen.line(paint.yellow(`! ${harmless(remark.text)}`));
  }

  /** A line for whatever a subagent begins, but not over what a person is typing. */
  #working(call: string, text: string, { doing }: SubagentProgress): void {
    if (this.#isAsking || doing === "thinks" || this.#calls.get(call)?.doing === doing) return;
    this.#update(call, { doing });
    const { paint, width } = this.#screen;
    this.#screen.line(paint.dim(fit(harmless(`  ↳ ${text}`), width)));
  }

  #discard(): void {
    const { paint } = this.#screen;
    if (this.#shown !== "") this.#screen.line(paint.yellow("✗ the text above broke off and is discarded"));
    this.#shown = "";
  }

  #answered({ data }: Event<"step.completed">): void {
    this.#steps++;
    this.#screen.status(undefined);
    const text = data.parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");
    if (this.#shown === "" && text !== "") this.#say(text);
    this.#screen.endLine();
    for (const part of data.parts) {
      if (part.type !== "tool-call") continue;
      this.#calls.set(part.id, { tool: part.tool, input: part.input, effects: [] });
    }
    this.#showRunning();
  }

  #finished({ data }: Event<"tool.completed">): void {
    const call = this.#calls.get(data.call) ?? { tool: data.call, input: "", effects: [] };
    this.#calls.delete(data.call);
    const target = callTarget(call.input, call.effects);
    const view = { paint: this.#screen.paint, width: this.#screen.width };
    const outcome = this.#isCancelled ? afterCancel(data.outcome) : data.outcome;
    const finished = { tool: call.tool, target, outcome, ms: data.ms };
    this.#screen.line(callLines(finished, view).join("\n"));
    this.#showRunning();
  }

  /** It does not run while it is not known whether it runs again. */
  #stopped(id: string): void {
    const call = this.#calls.get(id);
    if (!call) return;
    const { startedAt: _, ...stopped } = call;
    this.#calls.set(id, stopped);
    this.#showRunning();
  }

  /** Words stand apart from the calls before them, and right above those they announce. */
  #say(text: string): void {
    if (this.#shown === "") this.#screen.paragraph();
    this.#shown += text;
    this.#screen.write(harmless(text));
  }

  #update(id: string, news: Partial<OpenCall>): void {
    const call = this.#calls.get(id);
    if (call) this.#calls.set(id, { ...call, ...news });
  }

  /** The status line speaks of the first call that runs, and counts the others. */
  #showRunning(): void {
    if (this.#isAsking) return;
    const running = [...this.#calls.values()].filter((call) => call.startedAt !== undefined);
    this.#screen.status(running.length === 0 ? undefined : () => this.#runningText());
  }

  #runningText(): string {
    const running = [...this.#calls.values()].filter((call) => call.startedAt !== undefined);
    const [first] = running;
    if (!first) return "";
    const others = running.length > 1 ? ` (and ${running.length - 1} more)` : "";
    const said = first.progress ? ` | ${first.progress}` : "";
    const target = callTarget(first.input, first.effects);
    return `${first.tool} ${target}${others}, ${since(first.startedAt ?? Date.now())}${said}`;
  }
}

function since(at: number): string {
  return duration(Math.max(0, Date.now() - at));
}
