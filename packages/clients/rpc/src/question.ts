/** A question to a person, as a program gets it. It uses types of the protocol alone, since its types are published. */
import type { Effect, TakenHunks } from "@lathe/protocol";

export interface Question {
  /** The `seq` of its `question.asked`, which names it. */
  readonly seq: number;
  /** Whether a call needs permission, or the model itself asks. */
  readonly kind: "permission" | "question";
  readonly text: string;
  /** For a permission: `allow`, `deny`, and the lasting ones; any other answer denies and is the reason. */
  readonly options: readonly string[];
  /** The call that needs permission, if known. */
  readonly call?: QuestionedCall;
}

export interface QuestionedCall {
  readonly tool: string;
  /** The arguments, as JSON. */
  readonly input: string;
  /** The shell command that would run, or run again, if the tool runs one. */
  readonly command?: string;
  readonly effects: readonly Effect[];
  /** For a call that ran: the effects the sandbox blocked, which are asked for now. */
  readonly beyond?: readonly Effect[];
  /** One sentence. */
  readonly why: string;
  /** The planned changes, for a call that only changes files. */
  readonly files?: readonly QuestionedFile[];
  /** Set if there are several hunks, and the answer may take some. */
  readonly hasParts?: true;
}

export interface QuestionedFile {
  readonly path: string;
  /** The new path of a moved file. */
  readonly to?: string;
  /** The version before the change; null if there is no file. */
  readonly version: string | null;
  /** Each a unified diff of its own, without the names of files; one for a file that comes, goes or moves. */
  readonly hunks: readonly string[];
}

/** `allow` for a part of an edit; the rest is not written, and the model is told. */
export interface PartialAnswer {
  readonly answer: string;
  /** By file, hunks by their place in the question's list, from 0; files that are left out are left as they are. */
  readonly take?: readonly TakenHunks[];
  /** Why the rest is not taken, for the model. */
  readonly words?: string;
}
