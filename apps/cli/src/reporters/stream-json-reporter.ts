/** The `stream-json` format: every event and delta as one line of JSON, written at once. */
import type { Reporter } from "./reporter.ts";

export function createStreamJsonReporter(write: (text: string) => void): Reporter {
  const line = (value: object): void => write(`${JSON.stringify(value)}\n`);
  return {
    start: () => {},
    event: (event) => line({ event }),
    delta: (delta) => line({ delta }),
    end: ({ session, failure, output }) => {
      const { inFork } = session.settings;
      if (output) line({ output: output.value });
      if (failure) line({ failure });
      if (inFork !== undefined) line({ fork: inFork });
    },
  };
}
