/** The `text` format of an answer with a schema: the value as JSON once it matches, and nothing else. */
import { createPlainReporter } from "./plain-reporter.ts";
import type { Reporter } from "./reporter.ts";

export function createSchemaReporter(
  write: (text: string) => void,
  complain: (text: string) => void,
): Reporter {
  return {
    ...createPlainReporter(() => undefined, complain),
    end: ({ output }) => {
      if (output) write(`${JSON.stringify(output.value)}\n`);
    },
  };
}
