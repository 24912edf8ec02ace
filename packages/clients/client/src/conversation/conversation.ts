/** Conversation: what a person or a program has with the agent, in one session after the other, whatever shows it. */

import { setTimeout as sleep } from "node:timers/promises";
import type { AgentOptions } from "@lathe/config";
import { chooseModels, resumeSession, startSession, unknownModel } from "@lathe/hosts/local";
import {
  type Delta,
  type Effort,
  type Event,
  type Failure,
  failure,
  isFailure,
  type Mode,
  messageText,
  type Session,
  stricterMode,
} from "@lathe/protocol";
import type { OpenSession, Words } from "@lathe/sessions";
import type { BackgroundProcess } from "../texts/process-title.ts";
import { type QuestionListener, QuestionQueue } from "./question-queue.ts";

/** What a client shows of a conversation. */
export interface ConversationListener extends QuestionListener {
  event?(event: Event, session: Session): void;
  delta?(delta: Delta): void;
  /** What the person should know, in one sentence. The options hear it where this is absent. */
  remark?(text: string): void;
  /** A command in the background that ended with its session. */
  stopped?(process: BackgroundProcess): void;
  /** *Contract:* a setting, whether a turn runs, or which words wait; called often. */
  changed?(what: "mode" | "setting" | "work"): void;
}

export interface EarlierSession {
  readonly id: string;
  /** Empty: its own. */
  readonly models: readonly string[];
  /** As it was when it was closed, where that is known. */
  readonly before?: Session;
}

export interface ConversationStart {
  readonly options: AgentOptions;
  /** The kind of client, as the log names whoever answers and cancels. */
  readonly by: "terminal" | "editor" | "program";
  /** Whether questions are answered. */
  readonly attended: boolean;
  /** The id of a new session; drawn when absent. */
  readonly id?: string | undefined;
  /** The session to resume with the first words; absent: they begin a new one. */
  readonly resume?: EarlierSession | undefined;
  /** Whether the end of a background command may begin a turn now. */
  readonly wakes?: () => boolean;
}

export class Conversation {
  readonly questions: QuestionQueue;
  readonly #listener: ConversationListener;
  #start: ConversationStart;
  #options: AgentOptions;
  #session: OpenSession | undefined;
  #opening: Promise<OpenSession | Failure> | undefined;
  #turn: Promise<Session | Failure> | undefined;
  #cancelledBy: string | undefined;
  /** Whether the words of the turn are in the inbox, where a cancel comes behind them. */
  #isSaid = false;
  /** The model that was chosen while no session was open. */
  #chosen: string | undefined;
  #modeBefore: Mode | undefined;
  #queued: readonly string[] = [];
  #isClosed = false;
  #closing: Promise<void> | undefined;

  constructor(start: ConversationStart, listener: ConversationListener) {
    this.#start = start;
    this.#options = start.options;
    this.#listener = listener;
    this.questions = new QuestionQueue(() => this.#session, start.by, listener);
  }

  get options(): AgentOptions {
    return this.#options;
  }

  /** *Contract:* before the first words: sessions are opened with these. */
  adopt(options: AgentOptions): void {
    this.#options = options;
  }

  /** Undefined until something was said. */
  get session(): OpenSession | undefined {
    return this.#session;
  }

  /** Of the open session, or the one that the next words resume. */
  get id(): string | undefined {
    return this.#session?.id ?? this.#start.resume?.id;
  }

  get isWorking(): boolean {
    return this.#turn !== undefined;
  }

  /** The messages that the agent has not read yet. */
  get queued(): readonly string[] {
    return this.#queued;
  }

  /** The commands in the background. */
  processes(): readonly BackgroundProcess[] {
    return this.#session?.processes() ?? [];
  }

  /** *Contract:* opens the session without a turn; a failure is tried again with the next words. */
  open(words: Words = { text: "" }): Promise<OpenSession | Failure> {
    if (this.#isClosed) return Promise.resolve(closed);
    this.#opening ??= this.#open(words);
    return this.#opening;
  }

  async #open(words: Words): Promise<OpenSession | Failure> {
    const { resume, id } = this.#start;
    const { mode } = this.#options;
    const local = this.#local();
    const session = resume
      ? await resumeSession({ ...local, models: resume.models }, resume.id, this.#options.said)
      : await startSession(local, words, id);
    if (isFailure(session)) {
      this.#opening = undefined;
      return session;
    }
    this.#session = session;
    // It may have been changed meanwhile.
    if (this.#options.mode !== mode) session.setMode(this.#options.mode);
    for (const remark of session.remarks) this.remark(remark);
    const chosen = this.#chosen;
    this.#chosen = undefined;
    const refused = resume && chosen !== undefined ? await session.choose(chosen) : undefined;
    if (refused) this.#opening = Promise.resolve(session);
    return refused ?? session;
  }

  /** *Contract:* says the words, if any, and drives until no turn is open and no words wait; one at a time. */
  run(words?: Words): Promise<Session | Failure> {
    if (this.#turn) return Promise.resolve(turnRuns);
    this.#cancelledBy = undefined;
    this.#isSaid = false;
    this.#turn = this.#run(words).finally(() => {
      this.#turn = undefined;
      this.#queued = [];
      this.#changed("work");
    });
    this.#changed("work");
    return this.#turn;
  }

  async #run(words: Words | undefined): Promise<Session | Failure> {
    const isBegun = this.#session !== undefined || this.#start.resume !== undefined;
    const session = await this.open(words);
    if (isFailure(session)) return session;
    if (this.#isClosed) return closed;
    const refused = isBegun && words ? await session.say(words) : undefined;
    if (refused) return refused;
    this.#isSaid = true;
    if (this.#cancelledBy !== undefined) await session.cancel(this.#cancelledBy);
    this.questions.update(session.session());
    let ended = await session.run();
    // Said when the turn was about to end.
    while (!isFailure(ended) && (await session.hasWork())) ended = await session.run();
    return ended;
  }

  /** *Contract:* the running turn hears the words as soon as it can. */
  async steer(words: Words): Promise<Failure | undefined> {
    if (!this.isWorking) return noTurn;
    this.#queued = [...this.#queued, words.text];
    this.#changed("work");
    const session = await this.#opening;
    return session && !isFailure(session) ? session.say(words) : session;
  }

  /** *Contract:* the running turn ends soon after, even one that is only being opened; without one nothing happens. */
  async cancel(by: string = cancellers[this.#start.by]): Promise<Failure | undefined> {
    // A session without a turn would take it for its next one.
    if (!this.#turn) return undefined;
    this.#cancelledBy = by;
    return this.#isSaid ? this.#session?.cancel(by) : undefined;
  }

  /** Whether a command in the background has ended that the agent waits for. */
  waking(): ReturnType<OpenSession["waking"]> {
    return this.#turn ? "no" : (this.#session?.waking() ?? "no");
  }

  /** *Contract:* holds from the next turn on, and is returned as far as it is allowed; undefined: the one before plan mode. */
  setMode(mode: Mode | undefined): Mode {
    const before = this.#options.mode;
    const next = stricterMode(mode ?? this.#modeBefore ?? "auto", this.#options.widest);
    if (next === "plan" && before !== "plan") this.#modeBefore = before;
    this.#options = { ...this.#options, mode: next, said: { ...this.#options.said, mode: next } };
    this.#session?.setMode(next);
    this.#changed("mode");
    return next;
  }

  /** How much models may think in the next turn; undefined: as their providers have it. */
  get effort(): Effort | undefined {
    return this.#session ? this.#session.effort() : this.#options.effort;
  }

  /** Holds from the next turn on, also in a session that is resumed later. */
  setEffort(effort: Effort | undefined): void {
    const { effort: _, ...rest } = this.#options;
    const said = { ...rest.said, effort: effort ?? ("default" as const) };
    this.#options = { ...rest, ...(effort && { effort }), said };
    this.#session?.setEffort(effort);
    this.#changed("setting");
  }

  /** The model of the next request, as far as is known; empty where there is none. */
  get model(): string {
    const { models, env } = this.#options;
    const now = this.#session?.session() ?? this.#start.resume?.before;
    return this.#chosen ?? now?.chosen ?? (now?.model || (chooseModels(models, env)[0] ?? ""));
  }

  /** *Contract:* holds from the next attempt on; a failure changes nothing. */
  async setModel(model: string): Promise<Failure | undefined> {
    const unknown = await unknownModel({ ...this.#options, models: [model] });
    if (unknown) return unknown;
    this.#options = { ...this.#options, models: [model] };
    this.#chosen = this.#session ? undefined : model;
    const refused = await this.#session?.choose(model);
    this.#changed("setting");
    return refused;
  }

  /**
   * *Contract:* closes the session, does the work, and resumes the session whose id the work resolves with; with
   * undefined the next words begin a new one. When the work fails the session is resumed.
   */
  async switchTo(work: () => Promise<string | undefined | Failure>): Promise<Failure | undefined> {
    if (this.#turn) return turnRuns;
    const before = this.#session?.id;
    await this.#closeSession();
    const next = await work();
    const id = isFailure(next) ? before : next;
    const start = { ...this.#start, id: undefined, resume: undefined };
    this.#start = start;
    if (id !== undefined) {
      const { said, mode } = this.#options;
      this.#options = { ...this.#options, said: { ...said, mode } };
      this.#start = { ...start, resume: { id, models: [] } };
      const session = await this.open();
      this.#start = start;
      if (isFailure(session)) return session;
    }
    this.#changed("setting");
    return isFailure(next) ? next : undefined;
  }

  /** *Contract:* cancels the turn that runs and waits for its end, at most for `graceMs`; idempotent. */
  close(graceMs?: number): Promise<void> {
    this.#isClosed = true;
    this.#closing ??= this.#close(graceMs);
    return this.#closing;
  }

  async #close(graceMs: number | undefined): Promise<void> {
    const over = Promise.allSettled([this.cancel(), this.#turn]);
    const limit = graceMs === undefined ? [] : [sleep(graceMs, undefined, { ref: false })];
    // What is being opened is there in a moment.
    await this.#opening?.catch(() => undefined);
    // What still runs would write to a log that is closed.
    await Promise.race([over, ...limit]);
    await this.#closeSession();
  }

  async #closeSession(): Promise<void> {
    const session = this.#session;
    this.#session = undefined;
    this.#opening = undefined;
    this.#chosen = undefined;
    const running = session?.processes().filter(({ isRunning }) => isRunning) ?? [];
    await session?.close();
    this.questions.update({ calls: [] });
    for (const process of running) this.#listener.stopped?.(process);
  }

  #local(): Parameters<typeof startSession>[0] {
    const { attended, wakes } = this.#start;
    return {
      ...this.#options,
      attended,
      ...(wakes && { wakes }),
      onEvent: (event, session) => this.#onEvent(event, session),
      onDelta: (delta) => this.#listener.delta?.(delta),
      onRemark: (text) => this.remark(text),
    };
  }

  #onEvent(event: Event, session: Session): void {
    if (event.type === "message.received") this.#dequeue(messageText(event.data.parts));
    // An agreed plan is carried out in the mode that was chosen with it.
    const agreed = event.type === "tool.completed" && agreedMode(event);
    if (agreed) this.#options = { ...this.#options, mode: agreed };
    this.#listener.event?.(event, session);
    if (agreed) this.#changed("mode");
    this.questions.update(session, event);
  }

  #dequeue(text: string): void {
    const at = this.#queued.indexOf(text);
    if (at >= 0) this.#queued = this.#queued.toSpliced(at, 1);
  }

  /** Tells the person. */
  remark(text: string): void {
    if (this.#listener.remark) this.#listener.remark(text);
    else this.#options.onRemark?.(text);
  }

  #changed(what: "mode" | "setting" | "work"): void {
    this.#listener.changed?.(what);
  }
}

const cancellers = { terminal: "user", editor: "user", program: "the program" } as const;

function agreedMode({ data: { outcome } }: Event<"tool.completed">): Mode | undefined {
  return outcome.type === "ok" ? outcome.facts?.plan?.mode : undefined;
}

const turnRuns: Failure = failure(
  "invalid-arguments",
  "a turn of this session is running: wait for it, or cancel it",
  { who: "user" },
);

const noTurn: Failure = failure("invalid-arguments", "no turn of this session is running", { who: "user" });

const closed: Failure = failure("invalid-arguments", "the session was closed", { who: "user" });
