/** The options of a program's session. It uses only types of the protocol, since its types are published. */
import type { Delta, Effort, Event, InboxMessage, Limits, Mode, Model, Session, Tool } from "@lathe/protocol";
import type { PartialAnswer, Question } from "@lathe/rpc";

/** A message to a session: a text, and images that belong to it. */
export type Words = Pick<Extract<InboxMessage, { type: "message" }>, "text" | "images">;

export interface SessionOptions {
  /** The folder to work in; the program's own if absent. */
  readonly cwd?: string;
  /** A model ID, a comma-separated chain of them, or `auto`; the command's default if absent. */
  readonly model?: string;
  /** The program's own models by ID (`name/model`); `model` selects them. */
  readonly models?: Readonly<Record<string, Model>>;
  readonly tools?: readonly Tool[];
  /** How much reasoning models may think; the configuration's or the provider's default if absent. */
  readonly effort?: Effort;
  /** `auto` if absent; never looser than the user's configuration. */
  readonly mode?: Mode;
  /** Rules for what runs without asking: globs of commands, or `KIND:GLOB`. */
  readonly allow?: readonly string[];
  readonly limits?: Limits;
  /** Whether commands run in the sandbox; true if absent. */
  readonly sandbox?: boolean;
  /** The ID of a session to resume. */
  readonly resume?: string;
  /** Receives every event of the log. */
  onEvent?(event: Event, session: Session): void;
  /** Receives text and output while they stream. */
  onDelta?(delta: Delta): void;
  /** Receives a remark for the user, in one sentence. */
  onRemark?(text: string): void;
  /**
   * *Contract:* the answer, or the accepted part of an edit; without it, a call that needs approval ends the
   * turn.
   */
  onQuestion?(question: Question): Promise<string | PartialAnswer> | string | PartialAnswer;
}
