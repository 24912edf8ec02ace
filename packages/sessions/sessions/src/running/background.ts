/** Background: the commands that still run behind a conversation, for its person to see and stop. */
import type { Ports, Process } from "@lathe/protocol";
import {
  backgroundProcesses,
  endingsOf,
  hasEnding,
  printedBy,
  stateText,
  stopForUser,
  toldEndings,
} from "@lathe/tools";

export interface BackgroundProcess extends Pick<Process, "id" | "startedAt" | "exited"> {
  readonly script: string;
  readonly isRunning: boolean;
  /** Its state, in brackets. */
  readonly state: string;
  /** Its output so far, without secrets. */
  output(): Promise<string>;
  /** *Contract:* ends it and every process it started; resolves once they are gone. */
  stop(): Promise<void>;
}

/** The port through which the agent learns of them; `wakes`: whether an end may start a turn now. */
export function backgroundPorts(
  sandbox: Ports["sandbox"],
  redact: Ports["redact"],
  wakes: () => boolean = () => false,
): Required<Pick<Ports, "background" | "runsInBackground">> {
  const background = {
    finishedCommands: async () => {
      const finishedCommands = await endingsOf(sandbox);
      return finishedCommands && { ...finishedCommands, text: await redact(finishedCommands.text) };
    },
    told: (ended: readonly string[]) => toldEndings(sandbox, ended),
    wakes: () => hasEnding(sandbox) && wakes(),
  };
  return { background, runsInBackground: () => backgroundProcesses(sandbox).some(({ exit }) => !exit) };
}

/** *Contract:* their current state, in the order they started. */
export function backgroundOf({
  sandbox,
  redact,
}: Pick<Ports, "sandbox" | "redact">): readonly BackgroundProcess[] {
  return backgroundProcesses(sandbox).map((process) => {
    const { id, command, startedAt, exit, exited } = process;
    return {
      id,
      startedAt,
      exited,
      script: command.script,
      isRunning: exit === undefined,
      state: stateText(process),
      output: async () => redact(await printedBy(process)),
      stop: () => stopForUser(process),
    };
  });
}
