/** Says yes: a person at a terminal is asked; nobody else can say it. */
import type { Writable } from "node:stream";
import { AnswerReader } from "./answer-reader.ts";

/** `question` without the `[y/N]`. */
export async function saysYes(
  question: string,
  output: Writable & { readonly isTTY?: boolean },
): Promise<boolean> {
  if (process.stdin.isTTY !== true || output.isTTY !== true) return false;
  const reader = new AnswerReader(process.stdin);
  try {
    const answer = await reader.next(() => output.write(`${question} [y/N] `));
    return /^y(?:es)?$/iu.test(answer?.trim() ?? "");
  } finally {
    reader.close();
  }
}
