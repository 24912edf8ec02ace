/** The reporter of an output format. */

import { paletteFor, Screen } from "@lathe/terminal";
import { problemLine } from "../command-line/show-failure.ts";
import { createJsonReporter } from "./json-reporter.ts";
import { createPlainReporter } from "./plain-reporter.ts";
import type { OutputFormat, Reporter } from "./reporter.ts";
import { createSchemaReporter } from "./schema-reporter.ts";
import { createStreamJsonReporter } from "./stream-json-reporter.ts";
import { TerminalReporter } from "./terminal-reporter.ts";

export function createReporter(format: OutputFormat, hasSchema = false): Reporter {
  const write = (text: string): void => {
    process.stdout.write(text);
  };
  const complain = (text: string): void => {
    process.stderr.write(problemLine(text));
  };
  switch (format) {
    case "json":
      return createJsonReporter(write);
    case "stream-json":
      return createStreamJsonReporter(write);
    case "text":
      if (hasSchema) return createSchemaReporter(write, complain);
      if (!process.stdout.isTTY) return createPlainReporter(write, complain);
      return new TerminalReporter(new Screen(process.stdout, paletteFor(process.stdout, process.env)));
  }
}
