/** Describes a person's answer to other readers. */
import type { Event } from "@lathe/protocol";
import { harmless } from "../text/fit.ts";

/** Includes how much of an edit was applied, if not all. */
export function answerText({ answer, part }: Event<"question.answered">["data"]): string {
  if (!part) return harmless(answer);
  const taken = part.files.reduce((sum, one) => sum + one.taken.length, 0);
  const of = part.files.reduce((sum, one) => sum + one.of, 0);
  const words = part.words === undefined ? "" : `: ${part.words}`;
  return harmless(`${answer}, ${taken} of ${of} hunks${words}`);
}
