/** Piped names: the known names that a command prints as arguments for the next one. */

import { foundPlaces } from "../programs/find-runs.ts";
import type { FoundCall } from "../programs/found-call.ts";
import type { Input } from "../programs/inner.ts";
import { type ProgramCall, positional } from "../programs/program-call.ts";
import type { Word } from "../shell/word.ts";

/** Options with which `find` prints other text, runs a program, or reads its folders from a file. */
const otherWords = /^-(?:exec|execdir|ok|okdir|printf|fprint|fprint0|fprintf|ls|fls|files0-from)$/u;

/** *Contract:* `found` has all calls of one part of a pipeline; undefined if it may print anything. */
export function pipedNames(
  found: readonly FoundCall[],
  input: Input | undefined,
): readonly Word[] | undefined {
  const [call, ...others] = found;
  const [only, ...within] = call?.calls ?? [];
  if (!call || !only || others.length > 0 || within.length > 0) return undefined;
  if (only.program === "find")
    return only.args.some(({ text }) => otherWords.test(text)) ? undefined : foundPlaces(only.args);
  const isOfInput = call.redirects.every(({ operator }) => !operator.startsWith("<"));
  return isOfInput && isFilter(only) ? input?.names : undefined;
}

/** Whether it prints lines of its input unchanged. */
function isFilter({ program, args }: ProgramCall): boolean {
  const words = positional(args);
  const options = args.filter((word) => !words.includes(word)).map(({ text }) => text);
  switch (program) {
    case "head":
    case "tail":
      return words.every(({ text }) => /^\+?\d+$/u.test(text)) && options.every(isNumberOption);
    case "sort":
      return words.length === 0 && options.every((text) => /^-[rnuzfV]+$/u.test(text));
    case "grep":
    case "egrep":
    case "fgrep":
      return words.length === 1 && options.every((text) => /^-[viEFPwxze]+$/u.test(text));
    default:
      return false;
  }
}

function isNumberOption(text: string): boolean {
  return /^-(?:\d+|[nz]+(?:[-+]?\d+)?)$/u.test(text);
}
