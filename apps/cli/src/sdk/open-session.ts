/** Open session: an agent in the hands of a program. */

import { resumeSession, startSession } from "@lathe/hosts/local";
import { type Delta, type Event, type Failure, failure, isFailure, type Session } from "@lathe/protocol";
import type { Turn } from "@lathe/rpc";
import type { OpenSession as LocalSession, ExplicitOptions as Said } from "@lathe/sessions";
import { emptyTally, type Tally, tallied } from "../reporters/tally.ts";
import { answerQuestions } from "./answer-questions.ts";
import { readOptions } from "./read-options.ts";
import type { SessionOptions, Words } from "./session-options.ts";

export type Happening = { readonly event: Event } | { readonly delta: Delta };

export interface AgentSession {
  /** Undefined until something was said. */
  readonly id: string | undefined;
  /** *Contract:* resolves when the turn is over; a failure while another one runs. */
  run(words: string | Words): Promise<Turn | Failure>;
  /** *Contract:* the same, told as it happens; the generator returns what `run` resolves with. Whoever leaves it cancels the turn. */
  stream(words: string | Words): AsyncGenerator<Happening, Turn | Failure>;
  /** *Contract:* the running turn ends soon after; without one nothing happens. */
  cancel(): Promise<Failure | undefined>;
  /** *Contract:* cancels the running turn, and ends what runs in it; idempotent. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

const canceller = "the program";

type Listener = (happening: Happening) => void;

/** A failure says what is wrong with the options. */
export function openSession(options: SessionOptions = {}): Promise<AgentSession | Failure> {
  return openSessionAs(options);
}

/** *Contract:* a new session gets the id that was reserved for it. */
export async function openSessionAs(
  options: SessionOptions,
  reserved?: string,
): Promise<AgentSession | Failure> {
  const read = await readOptions(options);
  if (isFailure(read)) return read;
  const { local, listeners: program } = read;
  let session: LocalSession | undefined;
  let tally: Tally = emptyTally;
  const listeners = new Set<Listener>();
  const tell: Listener = (happening) => {
    for (const listener of listeners) listener(happening);
  };
  const questions =
    options.onQuestion &&
    answerQuestions(options.onQuestion, { session: () => session, remark: program.onRemark });
  const opened = {
    ...local,
    attended: questions !== undefined,
    onEvent: (event: Event, after: Session) => {
      tally = tallied(tally, event);
      program.onEvent(event, after);
      tell({ event });
      questions?.(event);
    },
    onDelta: (delta: Delta) => {
      program.onDelta(delta);
      tell({ delta });
    },
  };
  let running: Promise<Turn | Failure> | undefined;
  let isCancelled = false;
  /** Whether the words of the turn are where a cancel is behind them. */
  let isSaid = false;
  const held = openOnce((words) => begin(opened, words, { resume: options.resume, reserved }));
  const turn = async (words: Words): Promise<Turn | Failure> => {
    tally = emptyTally;
    const begun = await held.session(words);
    if (isFailure(begun)) return begun;
    const isFirst = session === undefined && options.resume === undefined;
    session = begun;
    const refused = isFirst ? undefined : await begun.say(words);
    if (refused) return refused;
    isSaid = true;
    if (isCancelled) await begun.cancel(canceller);
    const ended = await begun.run();
    return isFailure(ended) ? ended : turnOf(ended, tally);
  };
  const run = async (said: string | Words): Promise<Turn | Failure> => {
    if (running !== undefined) return atWork;
    isCancelled = false;
    isSaid = false;
    running = turn(typeof said === "string" ? { text: said } : said).finally(() => {
      running = undefined;
    });
    return running;
  };
  const cancel = async (): Promise<Failure | undefined> => {
    // What is not at work would take it for its next turn.
    if (running === undefined) return undefined;
    isCancelled = true;
    return isSaid ? session?.cancel(canceller) : undefined;
  };
  // What still runs would write to a log that is closed.
  const close = (): Promise<void> => held.close(Promise.allSettled([cancel(), running]));
  return {
    get id() {
      return session?.id ?? options.resume;
    },
    run,
    stream: (said) => streamed({ work: () => run(said), stop: cancel, listeners }),
    cancel,
    close,
    [Symbol.asyncDispose]: close,
  };
}

interface Opening {
  /** *Contract:* a failure once it was closed. */
  session(words: Words): Promise<LocalSession | Failure>;
  /** *Contract:* opens no more from now on, and closes what is open once `over`. */
  close(over: Promise<unknown>): Promise<void>;
}

/** Opened once, with its first words; what failed is tried again. */
function openOnce(open: (words: Words) => Promise<LocalSession | Failure>): Opening {
  let opening: Promise<LocalSession | Failure> | undefined;
  let isClosed = false;
  return {
    session: async (words) => {
      if (isClosed) return closed;
      opening ??= open(words);
      const begun = await opening;
      if (isFailure(begun)) opening = undefined;
      return isClosed ? closed : begun;
    },
    close: async (over) => {
      isClosed = true;
      // What is being opened is there in a moment, and is nobody else's to close.
      const begun = await opening?.catch(() => undefined);
      await over;
      if (begun && !isFailure(begun)) await begun.close();
    },
  };
}

const atWork: Failure = failure(
  "invalid-arguments",
  "a turn of this session is running: wait for it, or cancel it",
  { who: "user" },
);

const closed: Failure = failure("invalid-arguments", "the session was closed", { who: "user" });

/** One task in a session of its own. */
export async function run(task: string | Words, options: SessionOptions = {}): Promise<Turn | Failure> {
  const session = await openSession(options);
  if (isFailure(session)) return session;
  try {
    return await session.run(task);
  } finally {
    await session.close();
  }
}

type Local = Parameters<typeof startSession>[0];

interface Ids {
  readonly resume: string | undefined;
  readonly reserved: string | undefined;
}

function begin(
  local: Local & { readonly said: Said },
  words: Words,
  { resume, reserved }: Ids,
): Promise<LocalSession | Failure> {
  return resume === undefined
    ? startSession(local, words, reserved)
    : resumeSession(local, resume, local.said);
}

function turnOf(session: Session, { text, steps, changed, runLater }: Tally): Turn {
  const { id, account, usage, lastEnd: end = { type: "done" } } = session;
  return {
    session: id,
    end,
    text,
    steps,
    changed,
    runLater,
    usage,
    cost: account.costUnknown ? null : account.cost,
  };
}

interface Streaming {
  work(): Promise<Turn | Failure>;
  stop(): Promise<unknown>;
  readonly listeners: Set<Listener>;
}

async function* streamed({ work, stop, listeners }: Streaming): AsyncGenerator<Happening, Turn | Failure> {
  const waiting: Happening[] = [];
  let wake = (): void => undefined;
  const listener: Listener = (happening) => {
    waiting.push(happening);
    wake();
  };
  listeners.add(listener);
  let isOver = false;
  const ended = work().finally(() => {
    isOver = true;
    wake();
  });
  // Whoever stops listening is not told of it later.
  ended.catch(() => undefined);
  try {
    for (;;) {
      const next = waiting.shift();
      if (next) yield next;
      else if (isOver) return await ended;
      else
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
    }
  } finally {
    listeners.delete(listener);
    // Nobody wants the rest of it, and the session is free again for other words.
    if (!isOver) {
      await stop();
      await ended.catch(() => undefined);
    }
  }
}
