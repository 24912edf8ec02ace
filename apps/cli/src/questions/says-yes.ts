/** Asks a person at a terminal to confirm; without a person the answer is no. */
import type { Writable } from "node:stream";
import { AnswerReader } from "./answer-reader.ts";

/** Whether a person can be asked. */
export function isSomebodyThere(output: Asking): boolean {
  return process.stdin.isTTY === true && output.isTTY === true;
}

type Asking = Writable & { readonly isTTY?: boolean };

/** `question` without the `[y/N]`. */
export async function saysYes(question: string, output: Asking): Promise<boolean> {
  if (!isSomebodyThere(output)) return false;
  const reader = new AnswerReader(process.stdin);
  try {
    const answer = await reader.next(() => output.write(`${question} [y/N] `));
    return /^y(?:es)?$/iu.test(answer?.trim() ?? "");
  } finally {
    reader.close();
  }
}
