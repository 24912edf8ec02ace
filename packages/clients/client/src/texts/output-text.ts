/** Output text: the outputs of a session as a person chooses among them, and one of them whole. */
import type { CallOutput } from "@lathe/hosts/session-outputs";
import { blobOf } from "@lathe/protocol";
import { callTarget, count, duration, harmless } from "@lathe/terminal";

/** What it was called with. */
export function outputTarget({ input }: Pick<CallOutput, "input">): string {
  return harmless(callTarget(input, []));
}

/** How it ended, how long it took, and how much it is; of one that was shown in part the size is not known here. */
export function outputFigures({ outcome, ms }: CallOutput): string {
  const figures = [duration(ms)];
  if (outcome.type !== "ok") figures.unshift(outcome.type);
  else if (outcome.facts?.exitCode) figures.unshift(`exit ${outcome.facts.exitCode}`);
  if (blobOf(outcome) !== undefined) return [...figures, "shown to the model in part"].join(" · ");
  if (outcome.type !== "ok") return figures.join(" · ");
  const lines = outcome.text.trimEnd().split("\n").length;
  return [...figures, `${count(lines)} ${lines === 1 ? "line" : "lines"}`].join(" · ");
}

/** The one with this number, `last` or none for the last; undefined where there is none such. */
export function outputNamed(outputs: readonly CallOutput[], name = "last"): CallOutput | undefined {
  return name === "last" ? outputs.at(-1) : outputs.find(({ number }) => String(number) === name);
}
