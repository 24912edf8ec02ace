/** The `text` format into a pipe: the answer and nothing else; what delays it goes to stderr. */
import { collectRunLater, duration } from "@lathe/terminal";
import type { Reporter } from "./reporter.ts";
import { finalText } from "./tally.ts";

export function createPlainReporter(
  write: (text: string) => void,
  complain: (text: string) => void,
): Reporter {
  const runLater = collectRunLater();
  return {
    start: () => {},
    delta: (delta) => {
      if (delta.type !== "waiting") return;
      complain(`trying again in ${duration(Math.max(0, delta.until - Date.now()))}: ${delta.why}`);
    },
    // Only a completed answer is written: one that broke off would stand there twice.
    event: (event) => {
      const later = runLater(event);
      if (later !== undefined) complain(later);
      const text = event.type === "step.completed" ? finalText(event) : undefined;
      if (text) write(text.endsWith("\n") ? text : `${text}\n`);
    },
    end: () => {},
  };
}
