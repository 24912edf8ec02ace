/** Runs the sample project's own tests, in the sandbox if there is one, and reads their output. */
import type { Workbench } from "@lathe/hosts/local";
import { outcomeText } from "@lathe/protocol";
import { harmless, tellingLines } from "@lathe/terminal";
import { toolNames } from "@lathe/tools/known";

export const testCommand = "node --test --test-reporter=spec";

export interface TestRun {
  readonly passed: boolean;
  /** Names of the failing tests. */
  readonly failing: readonly string[];
  readonly tests: number;
  /** The first lines of the first failure. */
  readonly details: readonly string[];
}

const detailLines = 14;

export async function runTests(bench: Workbench): Promise<TestRun> {
  const outcome = await bench.run(toolNames.shell, { command: testCommand });
  const lines = harmless(outcomeText(outcome)).split("\n");
  const summary = lines.findIndex((line) => line.includes("failing tests:"));
  const failures = summary < 0 ? [] : lines.slice(summary + 1);
  const failing = failures.flatMap((line) => /^✖ (.*) \([\d.]+ms\)$/.exec(line)?.[1] ?? []);
  const [first = -1, second] = failures.flatMap((line, i) => (line.startsWith("✖ ") ? [i] : []));
  const details = tellingLines(failures.slice(first + 1, second).join("\n"), detailLines);
  const tests = Number(lines.map((line) => /tests (\d+)$/.exec(line)?.[1]).find(Boolean) ?? 0);
  const passed = outcome.type === "ok" && outcome.facts?.exitCode === 0 && tests > 0;
  return { passed, failing, tests, details: passed ? [] : details };
}
