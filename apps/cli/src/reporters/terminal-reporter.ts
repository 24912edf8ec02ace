/** The `text` format on a terminal: everything the agent does, as it does it. */
import type { Delta, Event, Session, SubagentProgress } from "@lathe/protocol";
import {
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
  noCalls,
  problemOf,
  runningCalls,
  type Screen,
  subagentsText,
  summaryText,
} from "@lathe/terminal";
import type { Reporter, RunResult, RunStart } from "./reporter.ts";

export class TerminalReporter implements Reporter {
  readonly #screen: Screen;
  #live: LiveCalls = noCalls;
  /** By call, what its subagent was said to do last. */
  readonly #doing = new Map<string, string>();
  /** Text of the running attempt that is already on the screen. */
  #shown = "";
  #steps = 0;
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
    const before = this.#live;
    this.#live = callsAfter(before, event);
    switch (event.type) {
      case "step.started":
        this.#shown = "";
        this.#screen.status(() => `${event.data.model} is thinking, ${since(event.at)}`);
        break;
      case "step.completed":
        this.#answered(event);
        break;
      case "permission.decided":
        break;
      case "tool.started":
        this.#showRunning();
        break;
      case "tool.denied":
        if (this.#live !== before) this.#showRunning();
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
        this.#finished(event, before);
        break;
      default:
        this.#happened(event);
    }
  }

  delta(delta: Delta): void {
    this.#live = callsDuring(this.#live, delta);
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
        break;
      case "output":
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
    const remark = this.#remarkOn(event);
    if (!remark) return;
    const { paint } = this.#screen;
    if (remark.tone === "quiet") this.#screen.line(paint.dim(harmless(remark.text)));
    else this.#screen.line(paint.yellow(`! ${harmless(remark.text)}`));
  }

  /** A line for whatever a subagent begins, but not over what a person is typing. */
  #working(call: string, text: string, { doing }: SubagentProgress): void {
    if (this.#isAsking || doing === "thinks" || this.#doing.get(call) === doing) return;
    if (this.#live.calls.has(call)) this.#doing.set(call, doing);
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
    this.#showRunning();
  }

  #finished(event: Event<"tool.completed">, before: LiveCalls): void {
    this.#doing.delete(event.data.call);
    const view = { paint: this.#screen.paint, width: this.#screen.width };
    this.#screen.line(callLines(finishedCall(before, event), view).join("\n"));
    this.#showRunning();
  }

  /** Words stand apart from the calls before them, and right above those they announce. */
  #say(text: string): void {
    if (this.#shown === "") this.#screen.paragraph();
    this.#shown += text;
    this.#screen.write(harmless(text));
  }

  /** The status line speaks of the first call that runs, and counts the others. */
  #showRunning(): void {
    if (this.#isAsking) return;
    const running = runningCalls(this.#live);
    this.#screen.status(running.length === 0 ? undefined : () => this.#runningText());
  }

  #runningText(): string {
    const running = runningCalls(this.#live);
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
