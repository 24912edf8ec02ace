/** Background: the commands that go on behind the conversation, as the model and the person know them. */
import type { Process, Sandbox } from "@lathe/protocol";
import {
  deniedOf,
  endText,
  isStopped,
  isTold,
  markStopped,
  markTold,
  outputFrom,
  seenOf,
} from "./process-output.ts";

/** Those that were handed over, running or not, in the order of their start. */
export function backgroundProcesses(sandbox: Sandbox): readonly Process[] {
  return sandbox.processes().filter((process) => seenOf(process) !== undefined);
}

/** How one stands, in brackets. */
export function stateText(process: Process): string {
  return process.exit ? endText(process) || "[exit code 0]" : "[running]";
}

/** Characters of a command that it is known by. */
const titleChars = 200;

/** The first line of its command. */
export function titleOf({ command: { script } }: Process): string {
  const [first = ""] = script.trim().split(/[\r\n]/u, 1);
  return first.slice(0, titleChars);
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

/** Those of people are not waited for by the model. */
const typed = new WeakSet<Process>();

export function markTyped(process: Process): void {
  typed.add(process);
}

/** Whether one of its commands has ended, and the model does not know. */
export function hasEnding(sandbox: Sandbox): boolean {
  return untold(sandbox).some((process) => !typed.has(process) && !isStopped(process));
}

/**
 * What the model is told of the commands that ended since it last heard of them. What they printed, made or looked for is
 * material, which only a result of a tool brings.
 */
export async function endingsOf(
  sandbox: Sandbox,
): Promise<{ readonly text: string; readonly ended: readonly string[] } | undefined> {
  const processes = untold(sandbox);
  if (processes.length === 0) return undefined;
  const lines = await Promise.all(processes.map(endingLine));
  return { text: lines.join("\n"), ended: processes.map(({ id }) => id) };
}

/** *Contract:* of `endingsOf`, once it has been told. */
export function toldEndings(sandbox: Sandbox, ended: readonly string[]): void {
  for (const process of untold(sandbox)) if (ended.includes(process.id)) markTold(process);
}

function untold(sandbox: Sandbox): readonly Process[] {
  return backgroundProcesses(sandbox).filter((process) => process.exit && !isTold(process));
}

async function endingLine(process: Process): Promise<string> {
  const seen = seenOf(process) ?? 0;
  const { total } = await process.read(seen, 1);
  const notes = [
    howEnded(process),
    ...moreToKnow(process),
    ...(total > seen ? ["it printed what you have not seen"] : []),
  ];
  return `Background process ${process.id} has ended (${notes.join("; ")}): ${titleOf(process)}`;
}

function howEnded(process: Process): string {
  const { code, signal, failure } = process.exit ?? {};
  if (isStopped(process)) return "stopped by the user";
  if (failure) return "the sandbox ended under it";
  return signal === undefined ? `exit code ${code ?? "unknown"}` : `ended by ${signal}`;
}

/** Names that it chose are not among them. */
function moreToKnow(process: Process): readonly string[] {
  const { outOfMemory, takenBack = [] } = process.exit ?? {};
  return [
    ...(outOfMemory ? ["out of memory"] : []),
    ...(deniedOf(process).length > 0 ? ["the sandbox kept it from something"] : []),
    ...(takenBack.length > 0 ? ["something it made was taken back"] : []),
  ];
}
