/** Types of the messages that `lathe rpc` reads and writes, by method. */
import type { Delta, Effort, Event, ImagePart, Limits, Mode, SessionState } from "@lathe/protocol";
import type { PartialAnswer, Question } from "./question.ts";
import type { Turn } from "./turn.ts";

/** The version of these messages; a breaking change raises it. */
export const rpcVersion = 1;

/** The settings that a session may be opened with, new or not. */
export interface OpenParams {
  readonly model?: string;
  readonly effort?: Effort;
  readonly mode?: Mode;
  readonly allow?: readonly string[];
  readonly limits?: Limits;
  readonly sandbox?: boolean;
}

export interface NamedSession {
  readonly session: string;
}

export interface ListedSession extends NamedSession {
  readonly cwd: string;
  readonly title: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Present if the client asked for it and the session's log is readable. */
  readonly state?: SessionState;
}

type Nothing = Readonly<Record<string, never>>;

/** Requests from the client. */
export interface ClientMethods {
  readonly initialize: {
    readonly params: {
      readonly protocolVersion: number;
      readonly client?: { readonly name: string; readonly version?: string };
    };
    readonly result: {
      readonly protocolVersion: 1;
      readonly server: { readonly name: "lathe"; readonly version: string };
    };
  };
  readonly "session/new": {
    readonly params: OpenParams & { readonly cwd: string };
    readonly result: NamedSession;
  };
  readonly "session/load": {
    /**
     * Runs in the session's own folder unless `cwd` names another; with `replay`, all earlier events come
     * first.
     */
    readonly params: OpenParams & NamedSession & { readonly cwd?: string; readonly replay?: boolean };
    readonly result: NamedSession & { readonly cwd: string; readonly title: string };
  };
  readonly "session/prompt": {
    readonly params: NamedSession & { readonly text: string; readonly images?: readonly ImagePart[] };
    readonly result: Turn;
  };
  readonly "session/cancel": { readonly params: NamedSession; readonly result: Nothing };
  readonly "session/close": { readonly params: NamedSession; readonly result: Nothing };
  readonly "session/questions": {
    /** Any session of this user, even one that another process runs. */
    readonly params: NamedSession;
    readonly result: { readonly questions: readonly Question[] };
  };
  readonly "session/answer": {
    /** `question` is its `seq`, or the ID of its call. */
    readonly params: NamedSession & PartialAnswer & { readonly question: number | string };
    readonly result: AnsweredQuestion;
  };
  readonly "session/list": {
    /** With `state`, Lathe reads the log of each listed session. */
    readonly params: {
      readonly cwd?: string;
      readonly search?: string;
      readonly limit?: number;
      readonly state?: boolean;
    };
    readonly result: { readonly sessions: readonly ListedSession[] };
  };
}

/** The fate of an answer. */
export interface AnsweredQuestion {
  /** `too-late`: another answer came first. `queued`: no process has read it yet. */
  readonly state: "counted" | "too-late" | "queued";
  /** The answer that counted, and the kind of client that gave it. */
  readonly answer?: string;
  readonly by?: string;
}

/** Requests to the client. */
export interface ServerMethods {
  readonly "session/question": {
    readonly params: NamedSession & { readonly question: Question };
    readonly result: PartialAnswer;
  };
}

/** Notifications to the client. */
export interface Notifications {
  readonly "session/event": NamedSession & { readonly event: Event; readonly replay?: true };
  readonly "session/delta": NamedSession & { readonly delta: Delta };
  /** A question sent to the client is closed; without an answer, its turn has ended. */
  readonly "session/answered": NamedSession & {
    readonly question: number;
    readonly answer?: string;
    readonly by?: string;
  };
  readonly "session/remark": NamedSession & { readonly text: string };
}

export type ClientMethod = keyof ClientMethods;
export type ParamsOf<M extends ClientMethod> = ClientMethods[M]["params"];
export type ResultOf<M extends ClientMethod> = ClientMethods[M]["result"];
