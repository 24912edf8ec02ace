/** Question: what a session asks a person, as a program gets it; of the words of the protocol alone, for its types are published. */
import type { Effect } from "@lathe/protocol";

export interface Question {
  /** Whether it is about a call that needs permission, or the model's own. */
  readonly kind: "permission" | "question";
  readonly text: string;
  /** Of a permission: `allow`, `deny`, and what holds for longer; any other answer denies, and says why. */
  readonly options: readonly string[];
  /** What a permission is asked for, where that is known. */
  readonly call?: QuestionedCall;
}

export interface QuestionedCall {
  readonly tool: string;
  /** The arguments, as JSON. */
  readonly input: string;
  /** The shell command that would run, or run again: of a tool that runs one. */
  readonly command?: string;
  readonly effects: readonly Effect[];
  /** Of a call that ran: what the sandbox kept it from, and what is asked for. */
  readonly beyond?: readonly Effect[];
  /** One sentence. */
  readonly why: string;
}
