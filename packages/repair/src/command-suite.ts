/** Runs any test command as it is for each candidate; narrowed to the failing test files where the runner takes files. */

import { quoteWordIfNeeded } from "@lathe/protocol";
import { failureReport, framesWithin } from "./failure-report.ts";
import { attemptEach } from "./node-suite.ts";
import type { RunResult } from "./repair-types.ts";
import { staticSuspects } from "./static-suspects.ts";
import type { Bench, Suite } from "./suite.ts";
import type { Runner } from "./test-command.ts";
import { isTestFile } from "./test-file.ts";

/** A suite from the output of the whole command's failing run, which took `ms`. */
export async function commandSuite(
  bench: Bench,
  runner: Runner,
  baseline: { readonly result: RunResult; readonly ms: number },
): Promise<Suite> {
  const output = baseline.result.output.replaceAll(bench.slots[0], bench.input.root);
  const report = failureReport(output);
  const frames = framesWithin(report.frames, bench.input.root, new Set(bench.files));
  const named = bench.files.filter(
    (file) => isTestFile(file) && report.tests.some((test) => test.startsWith(file)),
  );
  const tests = [...new Set([...named, ...frames.map((frame) => frame.path).filter(isTestFile)])];
  const narrow =
    runner.kind === "by-file" && tests.length > 0
      ? `${runner.command} ${tests.map(quoteWordIfNeeded).join(" ")}`
      : bench.command;
  const suspects = await staticSuspects({ files: bench.files, text: bench.text, tests, frames });
  const timeoutMs = baseline.result.timedOut ? 4_000 : Math.min(60_000, baseline.ms * 3 + 1_000);
  return {
    suspects,
    batch: 2,
    attempt: (slot, trials, patience) =>
      attemptEach(bench, trials, { slot, command: narrow, timeoutMs: timeoutMs * patience }),
  };
}
