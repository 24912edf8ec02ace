/** The one form every dialect compiles to: these lines of the file become those. */

/** Where a hunk says it belongs: believed only to choose between places that match equally well. */
export interface Hints {
  /** 1-based line of the file on which `old` starts. */
  readonly line?: number;
  /** Lines that stand above the place, the outer ones first. */
  readonly headers?: readonly string[];
}

export interface Hunk {
  /** Lines without their endings, at least one. */
  readonly old: readonly string[];
  readonly new: readonly string[];
  /** `lines`: whole lines of the file. `text`: the first and the last may be parts of lines. */
  readonly unit: "lines" | "text";
  /** For each line of `new` its line of `old` that the patch itself keeps; told by comparing them where it is left out. */
  readonly kept?: readonly (number | undefined)[];
  /** The same hunk read without markers on its context lines, which models leave out; and whether the rest fits that. */
  readonly unmarked?: { readonly hunk: Hunk; readonly likely: boolean };
  /** Every place instead of the only one. */
  readonly all?: boolean;
  readonly hints?: Hints;
  /** What the change does to the newline at the end of the file, where a patch says so. */
  readonly finalNewline?: "added" | "removed";
}

/**
 * How `old` and the file had to be read for `old` to be found, strictest first.
 * `unwrapped`: after taking off a wrapping such as a code fence; `elided`: in pieces around paired `...` lines.
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
