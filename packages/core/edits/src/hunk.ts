/** The common form of all dialects: which lines of the file are replaced by which. */

/** Hints about a hunk's place, used only to choose between places that match equally well. */
export interface Hints {
  /** 1-based line of the file on which `old` starts. */
  readonly line?: number;
  /** Lines above the place, outermost first. */
  readonly headers?: readonly string[];
}

export interface Hunk {
  /** Lines without their endings, at least one. */
  readonly old: readonly string[];
  readonly new: readonly string[];
  /** `lines`: whole lines of the file. `text`: the first and the last may be parts of lines. */
  readonly unit: "lines" | "text";
  /** For each line of `new`, the line of `old` that the patch keeps; absent: found by comparing them. */
  readonly kept?: readonly (number | undefined)[];
  /**
   * The same hunk without markers on its context lines, which models omit, and whether the rest supports
   * that.
   */
  readonly unmarked?: { readonly hunk: Hunk; readonly likely: boolean };
  /** Replaces every occurrence instead of the only one. */
  readonly all?: boolean;
  readonly hints?: Hints;
  /** Whether the patch adds or removes the newline at the end of the file. */
  readonly finalNewline?: "added" | "removed";
}

/**
 * How `old` and the file had to be folded to find `old`, strictest first. `unwrapped`: after removing a
 * wrapping such as a code fence; `elided`: in pieces around paired `...` lines.
 */
export const tiers = [
  "exact",
  "trailing-whitespace",
  "unicode",
  "leading-whitespace",
  "inner-whitespace",
  "blank-lines",
  "elided",
  "unwrapped",
] as const;

export type Tier = (typeof tiers)[number];
