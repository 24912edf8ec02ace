/** Whether the tests of attempts may run: their command is judged like that of a model, and nobody is asked. */
import { explainCommand } from "../workbench/workbench.ts";
import type { AttemptOptions } from "./run-attempt.ts";

/** *Contract:* why it may not, in one line; undefined where the rules and the mode allow it unasked. */
export async function refusedTests(options: AttemptOptions, command: string): Promise<string | undefined> {
  const unheard = {
    attended: false,
    onEvent: () => undefined,
    onDelta: () => undefined,
    onRemark: () => undefined,
  };
  const { verdict, why } = await explainCommand({ ...options, ...unheard }, command);
  return verdict === "allow" ? undefined : refusal(command, why);
}

function refusal(command: string, why: string): string {
  return `the tests (${command.replaceAll("\n", " ")}) are not run, as nobody is asked: ${why}`;
}
