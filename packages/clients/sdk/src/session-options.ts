/** Session options: what a program says of the session it opens; of the words of the protocol alone, for its types are published. */
import type { Delta, Effort, Event, InboxMessage, Limits, Mode, Model, Session, Tool } from "@lathe/protocol";
import type { PartialAnswer, Question } from "@lathe/rpc";

/** What is said to a session: a text, and images that go with it. */
export type Words = Pick<Extract<InboxMessage, { type: "message" }>, "text" | "images">;

export interface SessionOptions {
  /** The folder to work in; the program's own when absent. */
  readonly cwd?: string;
  /** A model id, a comma-separated chain of them, or `auto`; as for the command when absent. */
  readonly model?: string;
  /** Models of the program's own, by their id (`name/model`), to be named in `model`. */
  readonly models?: Readonly<Record<string, Model>>;
  readonly tools?: readonly Tool[];
  /** How much models that reason may think; as the configuration or their providers have it when absent. */
  readonly effort?: Effort;
  /** `auto` when absent; never looser than what the user's configuration says. */
  readonly mode?: Mode;
  /** What may happen unasked: globs of commands, or `KIND:GLOB`. */
  readonly allow?: readonly string[];
  readonly limits?: Limits;
  /** Whether commands run in the sandbox; they do when absent. */
  readonly sandbox?: boolean;
  /** The id of a session to go on with. */
  readonly resume?: string;
  /** Every event as it is in the log. */
  onEvent?(event: Event, session: Session): void;
  /** Text and output while they come. */
  onDelta?(delta: Delta): void;
  /** What the user should know, in one sentence. */
  onRemark?(text: string): void;
  /** *Contract:* the answer, or what is taken of an edit; without it a call that needs a person ends the turn. */
  onQuestion?(question: Question): Promise<string | PartialAnswer> | string | PartialAnswer;
}
