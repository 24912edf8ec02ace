/** Stored sessions: what can be done with the sessions of an archive without running one. */
import type { Event, Failure, OpenQuestion, Session, SessionSummary } from "@lathe/protocol";
import type { SessionArchive } from "../host/session-archive.ts";
import type { AnswerResult, QuestionAnswer } from "./answer-question.ts";
import type { Descendants } from "./descendants.ts";
import type { Following } from "./follow-session.ts";
import type { ForkOptions } from "./fork-session.ts";
import type { SessionQuery } from "./list-sessions.ts";
import type { RewindManner, RewindOptions, Rewound } from "./rewind-session.ts";
import type { SessionChanges } from "./session-changes.ts";
import type { ContextReport } from "./session-context.ts";
import type { CostReport } from "./session-cost.ts";
import type { SessionEdits } from "./session-edits.ts";
import type { CallOutput } from "./session-outputs.ts";
import type { StoredState } from "./stored-state.ts";

export interface StoredSessions {
  /** *Contract:* newest first. */
  list(query: SessionQuery): Promise<readonly SessionSummary[]>;
  /** The newest that a person began in the folder. */
  newest(cwd: string): Promise<SessionSummary | undefined>;
  /** *Contract:* the newest that a person began in the folder and no process has open; a failure where that one is damaged. */
  newestIdle(cwd: string): Promise<string | Failure | undefined>;
  /** The newest that a person began in the folder and a process has open. */
  newestRunning(cwd: string): Promise<string | undefined>;
  read(id: string): Promise<readonly Event[] | Failure>;
  /** *Contract:* the session with its state, from one reading of its log; for a session that any process may run. */
  state(id: string): Promise<StoredState | Failure>;
  /** *Contract:* the whole id, from any prefix that only one session has. */
  find(prefix: string): Promise<string | Failure>;
  /** *Contract:* `name` is one line; a session that is open takes it within a moment. */
  rename(id: string, name: string): Promise<Failure | undefined>;
  /** The questions that wait for a person, also of a session that another process runs. */
  questions(id: string): Promise<readonly OpenQuestion[] | Failure>;
  /** *Contract:* the first answer counts; a failure where no such question is open. */
  answer(id: string, given: QuestionAnswer): Promise<AnswerResult | Failure>;
  /** *Contract:* the ids of what is gone, its own first; all or nothing. Refused while a process has one of them open. */
  delete(id: string): Promise<readonly string[] | Failure>;
  /** *Contract:* the id of the new session; the one it comes from may run, and stays as it is. */
  fork(id: string, options: ForkOptions): Promise<string | Failure>;
  /** *Contract:* all or nothing; refused while a process has it open. */
  rewind(id: string, options: RewindOptions): Promise<Rewound | Failure>;
  /** *Contract:* undoes the last rewind, once, as long as nothing was said since. */
  undoRewind(id: string, manner: RewindManner): Promise<Rewound | Failure>;
  /** *Contract:* resolves at the signal, or with why the log cannot be read on. */
  follow(id: string, following: Following): Promise<Failure | undefined>;
  /** What its subagents, and theirs, add to a session. */
  descendants(session: Session): Promise<Descendants>;
  cost(id: string): Promise<CostReport | Failure>;
  /** What its next request consists of; `windowOf` gives the tokens that a model takes. */
  context(id: string, windowOf: (model: string) => Promise<number>): Promise<ContextReport | Failure>;
  changes(id: string): Promise<SessionChanges | Failure>;
  edits(id: string): Promise<SessionEdits | Failure>;
  /** *Contract:* in the order in which the calls ended, also those that a rewind reverted. */
  outputs(id: string): Promise<readonly CallOutput[] | Failure>;
  /** All the text of an output, also where the model was shown a part. */
  wholeOutput(output: CallOutput): Promise<string | Failure>;
}

/** Each use case is loaded when it is first used. */
export function storedSessions(archive: SessionArchive): StoredSessions {
  const listing = () => import("./list-sessions.ts");
  const following = () => import("./follow-session.ts");
  const rewinding = () => import("./rewind-session.ts");
  const answering = () => import("./answer-question.ts");
  const reading = () => import("./session-outputs.ts");
  return {
    list: async (query) => (await listing()).listSessions(archive, query),
    newest: async (cwd) => (await listing()).newestSession(archive, cwd),
    newestIdle: async (cwd) => (await following()).newestIdle(archive, cwd),
    newestRunning: async (cwd) => (await following()).newestRunning(archive, cwd),
    read: (id) => archive.stores.store.read(id),
    state: async (id) => (await import("./stored-state.ts")).storedState(archive, id),
    find: async (prefix) => (await listing()).findSession(archive, prefix),
    rename: async (id, name) => (await import("./name-session.ts")).nameSession(archive, id, name),
    questions: async (id) => (await answering()).sessionQuestions(archive, id),
    answer: async (id, given) => (await answering()).answerQuestion(archive, id, given),
    delete: async (id) => (await import("./delete-session.ts")).deleteSession(archive, id),
    fork: async (id, options) => (await import("./fork-session.ts")).forkSession(archive, id, options),
    rewind: async (id, options) => (await rewinding()).rewindSession(archive, id, options),
    undoRewind: async (id, manner) => (await rewinding()).undoRewind(archive, id, manner),
    follow: async (id, heard) => (await following()).followSession(archive, id, heard),
    descendants: async (session) => (await import("./descendants.ts")).descendantsOf(archive, session),
    cost: async (id) => (await import("./session-cost.ts")).sessionCost(archive, id),
    context: async (id, windowOf) =>
      (await import("./session-context.ts")).sessionContext({ ...archive, windowOf }, id),
    changes: async (id) => (await import("./session-changes.ts")).sessionChanges(archive, id),
    edits: async (id) => (await import("./session-edits.ts")).sessionEdits(archive, id),
    outputs: async (id) => (await reading()).sessionOutputs(archive, id),
    wholeOutput: async (output) => (await reading()).wholeOutput(archive, output),
  };
}
