/** One session of an editor, opened by its first prompt. */
import {
  type AgentContext,
  methods,
  RequestError,
  type SessionConfigOption,
  type StopReason,
} from "@agentclientprotocol/sdk";
import { agreedMode, modelOptions, withEffort } from "@lathe/client";
import { type AgentOptions, mayNeedTrust } from "@lathe/config";
import { chooseModels, resumeSession, startSession, unknownModel } from "@lathe/hosts/local";
import { readSession } from "@lathe/hosts/stored";
import { type Event, type Failure, isFailure, type Mode, type Session, stricterMode } from "@lathe/protocol";
import type { OpenSession as LocalSession, Words } from "@lathe/sessions";
import { problemOf } from "@lathe/terminal";
import { askEditor } from "./ask-editor.ts";
import { askTrust } from "./ask-trust.ts";
import { availableCommands, type ConversationContext, heardCommand } from "./editor-conversation.ts";
import { fenced } from "./outcome-update.ts";
import { configOptions, configure } from "./session-config.ts";
import { agentChunk, SessionUpdates } from "./session-updates.ts";

/** The capabilities that the editor announced. */
export interface EditorAbilities {
  readonly hasTerminals: boolean;
  readonly hasForms: boolean;
}

export interface AcpPlace {
  readonly id: string;
  readonly options: AgentOptions;
  /** The session before; absent if it is new. */
  readonly before?: Session;
  readonly abilities: EditorAbilities;
}

export class AcpSession {
  readonly #place: AcpPlace;
  #options: AgentOptions;
  readonly #client: AgentContext;
  #updates: SessionUpdates;
  #isNew: boolean;
  #mode: Mode;
  #modeBefore: Mode | undefined;
  #offered = "";
  #models: ReturnType<typeof modelOptions> | undefined;
  #isTrustAsked = false;
  #session: LocalSession | undefined;
  /** The model that was chosen while the session was not open. */
  #chosen: string | undefined;
  /** Sends updates one after the other, in order. */
  #told: Promise<void> = Promise.resolve();
  #asking = new AbortController();
  /** The open questions in the editor, by their calls. */
  readonly #questions = new Map<string, AbortController>();
  #isRunning = false;
  #isCancelled = false;

  constructor(place: AcpPlace, client: AgentContext) {
    this.#place = place;
    this.#options = place.options;
    this.#client = client;
    this.#isNew = place.before === undefined;
    this.#mode = place.options.mode;
    this.#updates = this.#translator(false);
  }

  get mode(): Mode {
    return this.#mode;
  }

  /** *Contract:* takes effect with the next prompt; the editor gets the resulting mode. */
  setMode(mode: Mode): void {
    this.#turnTo(mode);
  }

  /** The settings of the session and their values. */
  async config(): Promise<SessionConfigOption[]> {
    this.#models ??= modelOptions(this.#options, "");
    return configOptions(this.#context(), await this.#models);
  }

  /** *Contract:* as `configure`; returns the settings then. */
  async configure(chosen: Parameters<typeof configure>[1]): Promise<SessionConfigOption[]> {
    this.#models ??= modelOptions(this.#options, "");
    const refused = await configure(this.#context(), chosen, await this.#models);
    if (refused) throw refusedBy(refused);
    return this.config();
  }

  /** *Contract:* sends the list of slash commands if it changed. */
  async offerCommands(): Promise<void> {
    const commands = await availableCommands(this.#options);
    const offered = JSON.stringify(commands);
    if (offered === this.#offered) return;
    this.#offered = offered;
    this.#tell(async () => [{ sessionUpdate: "available_commands_update", availableCommands: commands }]);
  }

  /** *Contract:* one at a time; rejects with an error for the editor. */
  async prompt(words: Words): Promise<StopReason> {
    if (this.#isRunning) throw RequestError.invalidRequest(undefined, "a prompt of this session is running");
    this.#isRunning = true;
    this.#isCancelled = false;
    this.#asking = new AbortController();
    try {
      await this.offerCommands();
      if (!(await this.#isLookedOver())) return "cancelled";
      return await this.#hear(words);
    } finally {
      this.#asking.abort();
      this.#isRunning = false;
    }
  }

  /** Asks once about the project's extensions, before anything is opened; false if the person stopped instead. */
  async #isLookedOver(): Promise<boolean> {
    const { cwd } = this.#options;
    if (this.#isTrustAsked || this.#session || !mayNeedTrust(cwd)) return true;
    const { signal } = this.#asking;
    const editor = { client: this.#client, sessionId: this.#place.id, cwd, signal, hasForms: false };
    try {
      const options = await askTrust(this.#options, editor);
      if (!options || this.#isCancelled) return false;
      this.#options = options;
      this.#isTrustAsked = true;
      return true;
    } catch (cause) {
      if (this.#isCancelled) return false;
      this.#remark(`the editor could not be asked: ${String(cause)}`);
      return true;
    }
  }

  async #hear(words: Words): Promise<StopReason> {
    // A slash command needs the existing session.
    if (words.text.startsWith("/") && !this.#isNew) await this.#open(words);
    let reason: StopReason = "end_turn";
    const drive = async (said?: Words): Promise<void> => {
      reason = await this.#drive(said);
    };
    const left = await heardCommand(words, this.#context(drive));
    if (left && !isFailure(left)) await drive(left);
    else if (left) this.#print([left.text]);
    await this.#told;
    return this.#isCancelled ? "cancelled" : reason;
  }

  /** Without words, queued messages are taken and an interrupted turn continues. */
  async #drive(words: Words | undefined): Promise<StopReason> {
    const wasNew = this.#isNew;
    const session = await this.#open(words ?? { text: "" });
    if (this.#isCancelled) await session.cancel("user");
    const ended = await session.run(wasNew ? undefined : words);
    await this.#told;
    return this.#stopReason(ended);
  }

  #context(drive: ConversationContext["drive"] = async () => undefined): ConversationContext {
    const session = (): LocalSession | undefined => this.#session;
    const options = (): AgentOptions => ({ ...this.#options, mode: this.#mode });
    return {
      get options() {
        return options();
      },
      get session() {
        return session();
      },
      drive,
      print: (lines) => this.#print(lines),
      setMode: (mode) => this.#turnTo(mode),
      effort: () => session()?.effort() ?? this.#options.effort,
      setEffort: (effort) => {
        this.#options = withEffort(this.#options, effort);
        session()?.setEffort(effort);
        this.#tellConfig();
      },
      model: () => this.#model(),
      setModel: async (model) => {
        const unknown = await unknownModel({ ...this.#options, models: [model] });
        if (unknown) return unknown;
        this.#options = { ...this.#options, models: [model] };
        this.#chosen = session() ? undefined : model;
        const refused = await session()?.choose(model);
        this.#tellConfig();
        return refused;
      },
    };
  }

  /** Undefined restores the mode from before plan mode. */
  #turnTo(mode: Mode | undefined): Mode {
    const before = this.#mode;
    this.#mode = stricterMode(mode ?? this.#modeBefore ?? "auto", this.#options.widest);
    if (this.#mode === "plan" && before !== "plan") this.#modeBefore = before;
    this.#session?.setMode(this.#mode);
    this.#tellMode();
    return this.#mode;
  }

  #model(): string {
    const { models, env } = this.#options;
    const now = this.#session?.session() ?? this.#place.before;
    return this.#chosen ?? now?.chosen ?? (now?.model || (chooseModels(models, env)[0] ?? ""));
  }

  /** Sends both updates, since some editors know only modes. */
  #tellMode(): void {
    const currentModeId = this.#mode;
    this.#tell(async () => [{ sessionUpdate: "current_mode_update", currentModeId }]);
    this.#tellConfig();
  }

  #tellConfig(): void {
    this.#tell(async () => [{ sessionUpdate: "config_option_update", configOptions: await this.config() }]);
  }

  #remark(text: string): void {
    this.#options.onRemark?.(text);
  }

  #print(lines: readonly string[]): void {
    const said = lines.join("\n").trim();
    if (said === "") return;
    this.#tell(async () => [agentChunk(`${said.includes("\n") ? fenced(said) : said}\n\n`)]);
  }

  async cancel(): Promise<void> {
    if (!this.#isRunning) return;
    this.#isCancelled = true;
    // Withdraws questions asked before the session was opened.
    if (!this.#session) this.#asking.abort();
    const refused = await this.#session?.cancel("user");
    if (refused) this.#remark(refused.text);
  }

  /** Sends the editor the whole session. */
  async replay(drained: () => Promise<void>): Promise<void> {
    const events = await readSession(this.#options.env, this.#place.id);
    if (isFailure(events)) throw refusedBy(events);
    const replaying = this.#translator(true);
    for (const event of events) {
      this.#tell(() => replaying.event(event));
      await this.#told;
      await drained();
    }
  }

  async close(): Promise<void> {
    this.#asking.abort();
    const session = this.#session;
    this.#session = undefined;
    if (!session) return;
    if (this.#isRunning) await session.cancel("user");
    await session.close();
  }

  #translator(isReplay: boolean): SessionUpdates {
    const { abilities } = this.#place;
    const textOf = async (version: string) => this.#session?.textOf(version);
    return new SessionUpdates({
      cwd: this.#options.cwd,
      hasTerminals: abilities.hasTerminals,
      isReplay,
      textOf,
    });
  }

  async #open(words: Words): Promise<LocalSession> {
    if (this.#session) return this.#session;
    const mode = this.#mode;
    const { id } = this.#place;
    const local = {
      ...this.#options,
      mode,
      attended: true,
      onEvent: (event: Event) => this.#heard(event),
      onDelta: (delta: Parameters<SessionUpdates["delta"]>[0]) =>
        this.#tell(async () => this.#updates.delta(delta, Date.now())),
    };
    // The model it began with stays until another is chosen.
    const session = this.#isNew
      ? await startSession(local, words, id)
      : await resumeSession({ ...local, models: [] }, id, { ...this.#options.said, mode, folder: true });
    if (isFailure(session)) throw refusedBy(session);
    this.#session = session;
    // The mode may have changed meanwhile.
    session.setMode(this.#mode);
    for (const remark of session.remarks) this.#remark(remark);
    if (this.#isNew) this.#tell(async () => [titleUpdate(session.session())]);
    else if (this.#chosen !== undefined) await this.#insist(session, this.#chosen);
    this.#isNew = false;
    this.#chosen = undefined;
    return session;
  }

  async #insist(session: LocalSession, model: string): Promise<void> {
    const refused = await session.choose(model);
    if (refused) throw refusedBy(refused);
  }

  #heard(event: Event): void {
    this.#tell(() => this.#updates.event(event));
    const agreed = agreedMode(event);
    if (agreed) this.#goOnIn(agreed);
    if (event.type === "question.asked") void this.#ask(event);
    // Answered by another client or by another answer: the editor's question is withdrawn.
    if (event.type === "question.answered") this.#questions.get(event.data.call)?.abort();
    if (event.type === "turn.ended") this.#asking.abort();
  }

  /** The session is in that mode already. */
  #goOnIn(mode: Mode): void {
    this.#mode = mode;
    this.#tellMode();
  }

  async #ask({ data: asked, seq }: Event<"question.asked">): Promise<void> {
    const session = this.#session;
    if (!session) return;
    const { id, abilities } = this.#place;
    const own = new AbortController();
    const signal = AbortSignal.any([this.#asking.signal, own.signal]);
    const editor = { client: this.#client, sessionId: id, cwd: this.#options.cwd, signal };
    this.#questions.set(asked.call, own);
    try {
      const call = await session.askedCall(asked.call);
      // The editor has to know the call first.
      await this.#told;
      const answer = await askEditor({ asked, call }, { ...editor, hasForms: abilities.hasForms });
      if (answer === undefined) await session.cancel("user");
      else await session.answer(asked.call, seq, answer);
    } catch (cause) {
      if (signal.aborted) return;
      this.#remark(`the editor could not be asked: ${String(cause)}`);
      await session.cancel("the editor, which cannot be asked");
    } finally {
      if (this.#questions.get(asked.call) === own) this.#questions.delete(asked.call);
    }
  }

  #tell(updates: () => ReturnType<SessionUpdates["event"]>): void {
    const sessionId = this.#place.id;
    this.#told = this.#told
      .then(async () => {
        for (const update of await updates())
          await this.#client.notify(methods.client.session.update, { sessionId, update });
      })
      // Ignores errors of an editor that has gone away.
      .catch(() => undefined);
  }

  async #stopReason(ended: Session | Failure): Promise<StopReason> {
    if (isFailure(ended)) throw refusedBy(ended);
    const end = ended.lastEnd ?? { type: "done" };
    if (end.type === "done") return "end_turn";
    if (end.type === "cancelled") return "cancelled";
    if (end.type === "failed") {
      if (end.failure.code === "content-refused") return "refusal";
      throw refusedBy(end.failure);
    }
    this.#tell(async () => [agentChunk(`\n\n[${problemOf(end) ?? end.type}]`)]);
    await this.#told;
    if (end.type === "limit") return end.limit === "tokens" ? "max_tokens" : "max_turn_requests";
    return end.type === "loop" ? "max_turn_requests" : "end_turn";
  }
}

function titleUpdate({ title }: Session): Awaited<ReturnType<SessionUpdates["event"]>>[number] {
  return { sessionUpdate: "session_info_update", title };
}

export function refusedBy({ text, code, who }: Failure): RequestError {
  return who === "user" || code === "session-unknown"
    ? RequestError.invalidParams({ code }, text)
    : RequestError.internalError({ code }, text);
}
