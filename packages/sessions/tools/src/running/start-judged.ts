/** Start judged: starts the command of a call while the files that its verdict depended on are as they were. */
import {
  type Command,
  type Failure,
  isFailure,
  type Process,
  type ShellScript,
  type ToolContext,
} from "@lathe/protocol";
import { holding } from "./holding.ts";

/**
 * Files change for ordinary reasons between a verdict and the start: another call of the same answer wrote the script.
 * Then it is judged once more, and starts where that brings up nothing new.
 * *Contract:* `stale-version` where what has changed needs another verdict; nothing ran.
 */
export async function startJudged(
  command: Pick<Command, "script" | "cwd">,
  script: ShellScript,
  context: ToolContext,
): Promise<Process | Failure> {
  const { sandbox, judged } = context;
  const held = { ...command, ...holding(context) };
  const started = await sandbox.spawn(judged ? { ...held, judged } : held);
  if (!isFailure(started) || started.code !== "stale-version") return started;
  const again = await context.judgeAgain?.(script);
  return again ? sandbox.spawn({ ...held, judged: again }) : started;
}
