/** The tests of one attempt, in a sandbox of their own, in a process that sees the attempt in place of the folder. */
import { networkRules } from "@lathe/policy";
import { type CommandResult, type Failure, isFailure, type TestsRun } from "@lathe/protocol";
import { failureReport } from "@lathe/repair/failure-report";
import type { LocalOptions } from "../local-options.ts";
import { type LoneSandbox, openLoneSandbox } from "../sandbox/lone-sandbox.ts";
import type { TestsOrder } from "./orders.ts";

type Place = Pick<LocalOptions, "cwd" | "env" | "mode" | "rules" | "sandbox" | "sandboxLimits">;

/** *Contract:* the caller closes it, whatever came of the tests. */
export function openTests({ mode, rules, sandbox: choice, ...place }: Place): Promise<LoneSandbox | Failure> {
  const { hosts, bars } = networkRules(rules, () => mode);
  return openLoneSandbox({ ...place, hosts: choice === "off" ? [] : hosts, bars, choice });
}

export async function runTests(
  { sandbox }: LoneSandbox,
  { command, timeoutMs, restore }: TestsOrder,
  cwd: string,
): Promise<TestsRun> {
  const from = performance.now();
  const script = restore === undefined ? command : `{ ${restore}\n} || exit ${unrestored}\n${command}`;
  const result = await sandbox.exec({ script, cwd }, { timeoutMs });
  const ms = Math.round(performance.now() - from);
  if (restore !== undefined && !isFailure(result) && result.code === unrestored)
    return { passed: false, problem: "they could not be put back as they were", ms };
  return isFailure(result) ? { passed: false, problem: result.text, ms } : readTests(result, ms);
}

/** The exit code where the tests could not be put back. */
const unrestored = 97;

/** A count that the runner's output does not give is none. */
export function readTests(result: CommandResult, ms: number): TestsRun {
  if (result.failure) return { passed: false, problem: result.failure.text, ms };
  if (result.code === 0) return { passed: true, ms };
  const failures = failureReport(result.output).tests.length;
  const problem = result.timedOut
    ? "they took too long and were stopped"
    : result.outOfMemory
      ? "they ran out of memory"
      : undefined;
  return { passed: false, ...(failures > 0 && { failures }), ...(problem !== undefined && { problem }), ms };
}
