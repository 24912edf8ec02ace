/** Words of what a call runs inside itself, and of what that is looked for in. */
import type { KnownTexts, WantedTexts } from "../shell/known.ts";
import type { Word } from "../shell/word.ts";

/** What a command is fed with: a text when it is known, else names when these are. */
export interface Input {
  readonly text: string | undefined;
  readonly names?: readonly Word[] | undefined;
}

/** Who wrote the words: the model, or the project in a file that it runs. */
export type Origin = "typed" | "project";

export type Inner =
  /** `isOwnShell`: what it sets ends with it. */
  | {
      readonly type: "script";
      readonly text: Word;
      readonly isOwnShell: boolean;
      readonly args?: readonly Word[];
      readonly origin?: Origin;
      readonly folder?: string;
    }
  | { readonly type: "words"; readonly words: readonly Word[] }
  | {
      readonly type: "file";
      readonly path: Word;
      readonly args: readonly Word[];
      readonly isOwnShell: boolean;
      /** Its first line may name what runs it. */
      readonly isProgram?: boolean;
    }
  /** Code in the language of `program`, of a file or of an argument. */
  | { readonly type: "code"; readonly path: Word; readonly program: string }
  | { readonly type: "undecided"; readonly text: string }
  /** Runs what the project holds, of which not all could be read. */
  | { readonly type: "unfollowed"; readonly text: string };

export interface InnerContext {
  readonly known: KnownTexts;
  readonly wanted: WantedTexts;
  readonly folder: string | undefined;
  /** Files that the script has made. */
  readonly made: ReadonlyMap<string, { readonly text: string | undefined }>;
  /** Variables that the script has set, those of this command too. */
  readonly variables: ReadonlyMap<string, readonly Word[]>;
}
