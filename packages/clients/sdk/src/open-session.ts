/** Opens a session of the agent for a program. */
import { Conversation, type ConversationListener, type ConversationStart } from "@lathe/client";
import type { Program } from "@lathe/config";
import { type Failure, isFailure, type Session } from "@lathe/protocol";
import type { Turn } from "@lathe/rpc";
import type { AgentSession, Happening } from "./agent-session.ts";
import { answerQuestion } from "./answer-question.ts";
import { readOptions } from "./read-options.ts";
import type { SessionOptions, Words } from "./session-options.ts";
import { emptyTally, type Tally, tallied } from "./tally.ts";

type Listener = (happening: Happening) => void;

/** For a client that reserves ids, and withdraws questions. */
interface MoreOptions extends Pick<ConversationListener, "over"> {
  readonly id?: string;
}

/** *Contract:* a failure says what is wrong with the options; the session is opened by its first words. */
export async function openSession(
  program: Program,
  options: SessionOptions,
  { id, over }: MoreOptions = {},
): Promise<AgentSession | Failure> {
  const read = await readOptions(options, program);
  if (isFailure(read)) return read;
  const { local, listeners: heard } = read;
  const { resume, onQuestion } = options;
  let tally: Tally = emptyTally;
  const listeners = new Set<Listener>();
  const tell: Listener = (happening) => {
    for (const listener of listeners) listener(happening);
  };
  const start: ConversationStart = {
    options: local,
    by: "program",
    attended: onQuestion !== undefined,
    id,
    ...(resume !== undefined && { resume: { id: resume, models: local.models } }),
  };
  const conversation = new Conversation(start, {
    event: (event, after) => {
      tally = tallied(tally, event);
      heard.onEvent(event, after);
      tell({ event });
    },
    delta: (delta) => {
      heard.onDelta(delta);
      tell({ delta });
    },
    remark: heard.onRemark,
    opened: (question) => void (onQuestion && answerQuestion(question, onQuestion, conversation)),
    ...(over && { over }),
  });
  const run = async (said: string | Words): Promise<Turn | Failure> => {
    if (!conversation.isWorking) tally = emptyTally;
    const ended = await conversation.run(typeof said === "string" ? { text: said } : said);
    return isFailure(ended) ? ended : turnOf(ended, tally);
  };
  const cancel = (): Promise<Failure | undefined> => conversation.cancel();
  const close = (): Promise<void> => conversation.close();
  return {
    get id() {
      return conversation.id;
    },
    run,
    stream: (said) => streamed({ work: () => run(said), stop: cancel, listeners }),
    cancel,
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** One task in a session of its own. */
export async function runTask(
  program: Program,
  task: string | Words,
  options: SessionOptions,
): Promise<Turn | Failure> {
  const session = await openSession(program, options);
  if (isFailure(session)) return session;
  try {
    return await session.run(task);
  } finally {
    await session.close();
  }
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
  // The consumer may have left: avoid an unhandled rejection.
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
    // The consumer left: cancel the turn, so that the session accepts other messages.
    if (!isOver) {
      await stop();
      await ended.catch(() => undefined);
    }
  }
}
