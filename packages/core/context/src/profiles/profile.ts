/** Model profile: what of the harness is tuned to one family of models from one version on, as data. */
import type { GuardRails } from "@lathe/protocol";

/** How a model writes edits: pieces of text by pieces of text, or OpenAI's V4A patches. */
export type EditDialect = "str-replace" | "v4a";

/** `5.5` is `[5, 5]`. */
export type Version = readonly [major: number, minor: number];

export interface Profile {
  /** Which models: by the word in their names, see `families.ts`. */
  readonly family: string;
  /** The first version it is for; those before the first profile of a family have that one too. */
  readonly since: Version;
  readonly edits: EditDialect;
  /** It may write a patch as it is, where the wire can carry that. */
  readonly freeform?: true;
  /** How it is told to work; what is true for every model is in `system-prompt.ts`. */
  readonly manner: string;
  /** How long it may be silent, in milliseconds, where that differs from the gateway's defaults. */
  readonly stall?: { readonly firstMs?: number; readonly betweenMs?: number };
  /** Longest answer asked for, in tokens: reservations are made for all of it. */
  readonly maxOutput: number;
  /** The part of its window that a conversation may fill before it is made shorter. */
  readonly windowShare: number;
  /**
   * Tokens of a conversation above which old results are shortened where that frees enough, however wide the window:
   * all of it is paid for in every step.
   */
  readonly tidyAbove: number;
  /** What becomes of another model's reasoning: as text it helps those that do not reason by themselves. */
  readonly foreignReasoning: "drop" | "text";
  /** Whether it sees images, where the catalogue does not say. */
  readonly images: boolean;
  /** What it is kept on the path by, where the user says nothing else; absent: nothing. */
  readonly guardRails?: GuardRails;
}
