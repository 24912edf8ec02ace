/** The outputs of a session: a list to choose from, or one output in full. */

import { blobOf } from "@lathe/protocol";
import type { CallOutput } from "@lathe/sessions";
import { callTarget, count, duration, harmless } from "@lathe/terminal";

/** The target of the call. */
export function outputTarget({ input }: Pick<CallOutput, "input">): string {
  return harmless(callTarget(input, []));
}

/** How the call ended, how long it took, and its size, if known; a truncated output has none. */
export function outputFigures({ outcome, ms }: CallOutput): string {
  const figures = [duration(ms)];
  if (outcome.type !== "ok") figures.unshift(outcome.type);
  else if (outcome.facts?.exitCode) figures.unshift(`exit ${outcome.facts.exitCode}`);
  if (blobOf(outcome) !== undefined) return [...figures, "shown to the model in part"].join(" · ");
  if (outcome.type !== "ok") return figures.join(" · ");
  const lines = outcome.text.trimEnd().split("\n").length;
  return [...figures, `${count(lines)} ${lines === 1 ? "line" : "lines"}`].join(" · ");
}

/** The output with this number; the last one for `last` or without a name. */
export function outputNamed(outputs: readonly CallOutput[], name = "last"): CallOutput | undefined {
  return name === "last" ? outputs.at(-1) : outputs.find(({ number }) => String(number) === name);
}
