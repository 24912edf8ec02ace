/** Background: the commands that go on behind a conversation, for its person to see and to stop. */
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
  /** How it stands, in brackets. */
  readonly state: string;
  /** What it has printed, without secrets. */
  output(): Promise<string>;
  /** *Contract:* ends it and all that it started; resolves when it is gone. */
  stop(): Promise<void>;
}

/** What the agent hears of them; `wakes`: whether an end may begin a turn now. */
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

/** *Contract:* as they are now, in the order of their start. */
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
