/** Chat: a conversation of a person with the agent, in one session after the other, whatever it is shown on. */
import { setTimeout as sleep } from "node:timers/promises";
import { agreedMode, titleOf, withEffort } from "@lathe/client";
import type { AgentOptions } from "@lathe/config";
import { resumeSession, startSession, unknownModel } from "@lathe/hosts/local";
import {
  type Delta,
  type Effort,
  type Event,
  type Failure,
  isFailure,
  type Mode,
  type Session,
  stricterMode,
} from "@lathe/protocol";
import type { OpenSession as LocalSession, Words } from "@lathe/sessions";
import { harmless, type Theme, wrap } from "@lathe/terminal";
import type { Choice, Option } from "@lathe/terminal/choice";
import { atWork } from "./at-work.ts";
import type { ChatView } from "./chat-view.ts";
import { FinishedCommands, tiredText } from "./finished-commands.ts";
import { OwnBench } from "./own-bench.ts";
import { createPastedImages, type PastedImages } from "./pasted-images.ts";
import { PendingMessages } from "./pending-messages.ts";
import { createQuestions, type Questions } from "./questions.ts";
import { type Status, statusOf } from "./status-line.ts";
import { Transcript } from "./transcript.ts";
import { ranTyped } from "./typed-output.ts";

/** How long a turn that was interrupted may take to end before everything is closed. */
const graceMs = 2_000;

export class Chat {
  readonly transcript: Transcript;
  readonly pasted: PastedImages = createPastedImages();
  readonly #view: ChatView;
  readonly #questions: Questions;
  #options: AgentOptions;
  #session: LocalSession | undefined;
  readonly #bench = new OwnBench();
  /** The turn or the command that runs. */
  #work: { readonly startedAt: number; readonly stop?: AbortController } | undefined;
  #driving: Promise<void> | undefined;
  #leaving: Promise<string | undefined> | undefined;
  /** Output of typed commands that goes to the model with the next words. */
  #told: string[] = [];
  readonly #pendingMessages: PendingMessages;
  readonly #finishedCommands: FinishedCommands;
  #choice: Choice | undefined;
  #modeBefore: Mode | undefined;
  /** Settles when it has been left, rejects with a bug. */
  readonly ended: Promise<void>;
  readonly #end: PromiseWithResolvers<void>;

  constructor(options: AgentOptions, view: ChatView) {
    this.#options = options;
    this.#view = view;
    this.#pendingMessages = new PendingMessages(() => view.changed());
    this.#finishedCommands = new FinishedCommands(
      () => view.changed(),
      (isNew) => this.#wake(isNew),
    );
    this.transcript = new Transcript(view.theme(), () => view.width());
    this.#end = Promise.withResolvers();
    this.ended = this.#end.promise;
    this.#questions = createQuestions(() => this.#session, {
      theme: () => view.theme(),
      print: (lines) => this.print(lines),
      offer: (choice) => this.#offer(choice),
      complain: (refused) => this.complain(refused.text),
    });
  }

  get options(): AgentOptions {
    return this.#options;
  }

  /** *Contract:* before the first words: sessions are begun with these. */
  adopt(options: AgentOptions): void {
    this.#options = options;
  }

  get session(): LocalSession | undefined {
    return this.#session;
  }

  get isWorking(): boolean {
    return this.#work !== undefined;
  }

  /** What was said and is not heard yet. */
  get queued(): readonly string[] {
    return this.#pendingMessages.texts;
  }

  /** What the person is to choose now. */
  get choice(): Choice | undefined {
    return this.#choice;
  }

  get theme(): Theme {
    return this.#view.theme();
  }

  get width(): number {
    return this.#view.width();
  }

  /** The commands that went on in the background, the agent's and the person's. */
  processes(): ReturnType<LocalSession["processes"]> {
    return [...this.#bench.processes(), ...(this.#session?.processes() ?? [])];
  }

  status(): Status {
    return statusOf(this.#options, this.#session, this.#finishedCommands.running(this.processes()));
  }

  print(lines: readonly string[]): void {
    this.transcript.print(lines);
    this.#view.changed();
  }

  redraft(text: string): void {
    this.#view.redraft?.(text);
  }

  toTerminal(sequence: string): boolean {
    return this.#view.toTerminal?.(sequence) ?? false;
  }

  complain(text: string): void {
    this.print(
      wrap(harmless(text), this.width - 2).map((line, row) =>
        this.theme.red(`${row === 0 ? "✗" : " "} ${line}`),
      ),
    );
  }

  /** *Contract:* prints what comes of it, or why nothing did; a bug ends the chat. */
  async attempt(work: () => Promise<readonly string[] | Failure | undefined>): Promise<void> {
    const attempted = async (): Promise<void> => {
      const told = await work();
      if (told && isFailure(told)) this.complain(told.text);
      else if (told) this.print(told);
    };
    await this.#finishedCommands.after(() => attempted().catch((cause) => this.#end.reject(cause)));
  }

  /** What the agent left to itself has ended: it goes on. */
  #wake(isNew: boolean): void {
    const isBusy = this.#work !== undefined || this.#leaving !== undefined;
    const waking = isBusy ? "no" : this.#session?.waking();
    if (waking === "yes") void this.drive();
    if (waking === "tired" && isNew) this.print([this.theme.dim(tiredText)]);
  }

  /** A choice of something else than what the agent asks; undefined when it was left. */
  async choose(
    title: string,
    options: readonly Option[],
    manner: Pick<Choice, "settles"> = {},
  ): Promise<string | undefined> {
    const { promise, resolve } = Promise.withResolvers<string | undefined>();
    const choice: Choice = { title, options, takesWords: false, resolve, ...manner };
    this.#offer(choice);
    const answer = await promise;
    if (this.#choice === choice) this.#offer(undefined);
    return answer;
  }

  /** *Contract:* says words to the agent: begins a turn, or steers the one that runs. */
  async say(text: string): Promise<void> {
    if (this.#work?.stop) return this.#sayLater(text);
    const said = this.pasted.wordsOf(text, this.#options.cwd, (left) => this.complain(left));
    if (isFailure(said)) return this.complain(said.text);
    const told = this.#told.splice(0);
    const words: Words = { ...said, text: [...told, said.text].join("\n\n") };
    if (!this.#work) return this.drive(words);
    if (!this.#session) return this.complain("nobody can hear that now: wait for the end, or press Esc");
    this.#pendingMessages.add(words.text);
    const refused = await this.#session.say(words);
    if (refused) this.complain(refused.text);
    this.#view.changed();
  }

  /** After what runs that is no turn: nobody hears words meanwhile. */
  async #sayLater(text: string): Promise<void> {
    this.#pendingMessages.add(text);
    while (this.#work?.stop) await this.#driving;
    this.#pendingMessages.heard(text);
    if (!this.#leaving) await this.say(text);
  }

  /** *Contract:* runs until no turn is open and nothing waits to be heard; tells problems itself. */
  drive(words?: Words): Promise<void> {
    this.#driving = this.#drive(words);
    return this.#driving;
  }

  async #drive(words: Words | undefined): Promise<void> {
    this.#work = { startedAt: Date.now() };
    this.#view.changed();
    let isWell = false;
    try {
      const problem = await this.#driven(words);
      if (problem) this.complain(problem.text);
      isWell = !problem;
    } catch (cause) {
      this.#end.reject(cause);
    } finally {
      this.#rest();
      this.#pendingMessages.clear();
    }
    // What could not be done now could not be done in a moment either.
    if (isWell) this.#finishedCommands.tell();
  }

  async #driven(words: Words | undefined): Promise<Failure | undefined> {
    const existing = this.#session;
    const session = existing ?? (await startSession(this.#local(), words ?? { text: "" }));
    if (isFailure(session)) return session;
    if (!existing) this.#take(session);
    this.#questions.recall(session.session().calls);
    let ended = await session.run(existing ? words : undefined);
    // Said when the turn was about to end.
    while (!isFailure(ended) && (await session.hasWork())) ended = await session.run();
    return isFailure(ended) ? ended : undefined;
  }

  /** *Contract:* the turn or the command that runs ends soon; whether anything ran. */
  interrupt(): boolean {
    if (!this.#work) return false;
    this.#work.stop?.abort();
    const asked = this.#session?.cancel("user");
    void asked?.then((refused) => refused && this.complain(refused.text));
    return true;
  }

  /** A shell command of the person's own. */
  async command(script: string): Promise<void> {
    if (this.#work) return this.complain("the agent is at work: wait, or press Esc first");
    this.transcript.typed(script);
    const runner = this.#session ?? this.#bench.open(this.#local());
    const ran = async (signal: AbortSignal): Promise<readonly string[]> => {
      const { lines, told } = await ranTyped(runner, { script, signal }, this);
      this.transcript.typed(undefined);
      if (told !== undefined) this.#told.push(told);
      return lines;
    };
    await this.attempt(() => this.busy(ran));
  }

  /** *Contract:* work that is no turn, interrupted like one; `live` says what goes on, in lines. */
  async busy<T>(work: (stop: AbortSignal) => Promise<T>, live?: () => readonly string[]): Promise<T> {
    const stop = new AbortController();
    this.#work = { startedAt: Date.now(), stop };
    this.transcript.during(live);
    this.#view.changed();
    const done = work(stop.signal);
    this.#driving = done.then(
      () => undefined,
      () => undefined,
    );
    return done.finally(() => {
      this.#rest();
      this.transcript.during(undefined);
      this.#view.changed();
    });
  }

  #rest(): void {
    this.#work = undefined;
    this.transcript.rest();
    this.#finishedCommands.running(this.processes());
  }

  /** Another model from the next attempt on. */
  async setModel(model: string): Promise<Failure | undefined> {
    const unknown = await unknownModel({ ...this.#options, models: [model] });
    if (unknown) return unknown;
    this.#options = { ...this.#options, models: [model] };
    if (!this.#session) return undefined;
    // Whoever works hears it; else it is heard with the next words.
    return this.#session.choose(model);
  }

  /** Holds from the next turn on; undefined: the one before plan mode. */
  setMode(mode: Mode | undefined): Mode {
    const before = this.#options.mode;
    const next = stricterMode(mode ?? this.#modeBefore ?? "auto", this.#options.widest);
    if (next === "plan" && before !== "plan") this.#modeBefore = before;
    this.#options = { ...this.#options, mode: next };
    this.#session?.setMode(next);
    this.#view.changed();
    return next;
  }

  /** How much models may think in the next turn; undefined: as their providers have it. */
  get effort(): Effort | undefined {
    return this.#session ? this.#session.effort() : this.#options.effort;
  }

  /** Holds from the next turn on. */
  setEffort(effort: Effort | undefined): void {
    this.#options = withEffort(this.#options, effort);
    this.#session?.setEffort(effort);
    this.#view.changed();
  }

  /**
   * *Contract:* gives the session up, does the work, and takes up the session whose id the work resolves with; with
   * undefined the next words begin a new one. When the work fails the session is taken up again.
   */
  async switchTo(work: () => Promise<string | undefined | Failure>): Promise<Failure | undefined> {
    if (this.#work) return atWork;
    const before = this.#session?.id;
    await this.#closeSession();
    const next = await work();
    const id = isFailure(next) ? before : next;
    if (id !== undefined) {
      const said = { ...this.#options.said, mode: this.#options.mode };
      const session = await resumeSession({ ...this.#local(), models: [] }, id, said);
      if (isFailure(session)) return session;
      this.#take(session);
    }
    this.#view.changed();
    return isFailure(next) ? next : undefined;
  }

  async #closeSession(): Promise<void> {
    const session = this.#session;
    this.#session = undefined;
    await this.#ending(session);
  }

  /** What still runs in its background ends with it, and is named. */
  async #ending(one: LocalSession | OwnBench | undefined): Promise<void> {
    const running = one?.processes().filter(({ isRunning }) => isRunning) ?? [];
    await one?.close();
    if (running.length > 0)
      this.print(running.map((process) => this.theme.dim(`stopped: ${titleOf(process)}`)));
  }

  #take(session: LocalSession): void {
    this.#session = session;
    for (const remark of session.remarks) this.complain(remark);
  }

  /** *Contract:* ends what runs, closes everything; idempotent. The id of the session that is left, if there is one. */
  leave(): Promise<string | undefined> {
    this.#leaving ??= this.#left();
    return this.#leaving;
  }

  async #left(): Promise<string | undefined> {
    const id = this.#session?.id;
    if (this.interrupt()) await Promise.race([this.#driving, sleep(graceMs, undefined, { ref: false })]);
    await this.#closeSession();
    await this.#ending(this.#bench);
    this.#end.resolve();
    return id;
  }

  #local(): Parameters<typeof startSession>[0] {
    return {
      ...this.#options,
      attended: true,
      wakes: () => this.#finishedCommands.isQuiet,
      onEvent: (event, session) => this.#onEvent(event, session),
      onDelta: (delta: Delta) => {
        this.transcript.delta(delta);
        this.#view.changed();
      },
      onRemark: (text) => this.complain(text),
    };
  }

  #onEvent(event: Event, session: Session): void {
    if (event.type === "message.received") {
      this.#pendingMessages.heard(
        event.data.parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n"),
      );
    }
    // A plan that was agreed to goes on in the mode that was chosen with it.
    const agreed = agreedMode(event);
    if (agreed) this.#options = { ...this.#options, mode: agreed };
    this.transcript.event(event, session);
    this.#questions.event(event);
    this.#view.changed();
  }

  /** What the agent asks comes before what the person was choosing. */
  #offer(choice: Choice | undefined): void {
    const before = this.#choice;
    this.#choice = choice;
    if (before && choice && !before.takesWords) before.resolve(undefined);
    this.#view.changed();
  }
}
