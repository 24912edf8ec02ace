/** Background: the commands that go on behind the conversation, as the model and the person know them. */
import type { Process, Sandbox } from "@lathe/protocol";
import { endText, markStopped, outputFrom, seenOf } from "./process-output.ts";

/** Those that were handed over, running or not, in the order of their start. */
export function backgroundProcesses(sandbox: Sandbox): readonly Process[] {
  return sandbox.processes().filter((process) => seenOf(process) !== undefined);
}

/** How one stands, in brackets. */
export function stateText(process: Process): string {
  return process.exit ? endText(process) || "[exit code 0]" : "[running]";
}

/** All that one has printed, as a person would see it; the two ends of what is enormous. */
export async function printedBy(process: Process): Promise<string> {
  return (await outputFrom(process, 0)).text;
}

/** *Contract:* as that of the process; whoever looks at it later is told that it was the user. */
export function stopForUser(process: Process): Promise<void> {
  if (!process.exit) markStopped(process);
  return process.stop();
}
