/** Question: what a session asks a person, as a program gets it; of the words of the protocol alone, for its types are published. */
import type { Effect, TakenHunks } from "@lathe/protocol";

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
  /** What files would say, of a call that only changes files and can be planned. */
  readonly files?: readonly QuestionedFile[];
  /** The answer may take some of the hunks: there is more than one. */
  readonly hasParts?: true;
}

export interface QuestionedFile {
  readonly path: string;
  /** Where it goes, of a file that is moved. */
  readonly to?: string;
  /** Of the text before; null where there is no file. */
  readonly version: string | null;
  /** Each a unified diff of its own, without the names of files; one for a file that comes, goes or moves. */
  readonly hunks: readonly string[];
}

/** `allow` with what is taken of an edit; what is not taken is not written, and the model is told. */
export interface PartialAnswer {
  readonly answer: string;
  /** By file, hunks by their place in the question's list, from 0; files that are left out are left as they are. */
  readonly take?: readonly TakenHunks[];
  /** Why the rest is not taken: told to the model. */
  readonly words?: string;
}
