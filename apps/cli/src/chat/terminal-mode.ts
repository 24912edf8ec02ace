/** Terminal mode: keys one by one, pastes marked, and everything as it was at the end, however that comes. */
import { writeSync } from "node:fs";

/** Marked pastes; keys told apart (kitty's protocol), where the terminal knows that. */
const enter = "\u001b[?2004h\u001b[>1u";
/** The cursor shown, colours off. */
const leave = "\u001b[?2004l\u001b[<u\u001b[?25h\u001b[0m\u001b[?2026l";
const hideCursor = "\u001b[?25l";

export interface TerminalMode {
  /** *Contract:* stops the process as Ctrl-Z does, the terminal as it was meanwhile. */
  suspend(): void;
  /** *Contract:* the terminal is as it was before until the work is done; `onContinue` is called behind it. */
  lend<T>(work: () => Promise<T>): Promise<T>;
  /** *Contract:* idempotent. */
  restore(): void;
}

export interface ModeEvents {
  /** What the terminal is asked for beside this: written on entering, and on leaving. */
  readonly more?: { readonly on: string; readonly off: string };
  /** What is on the screen is to be taken away before the process stops. */
  onStop(): void;
  /** The process goes on: everything has to be drawn anew. */
  onContinue(): void;
}

export function enterTerminalMode(events: ModeEvents): TerminalMode {
  const { more = { on: "", off: "" } } = events;
  let isOn = false;
  let isLent = false;
  const on = (): void => {
    isOn = true;
    process.stdin.setRawMode(true);
    process.stdout.write(`${enter}${more.on}${hideCursor}`);
  };
  const off = (): void => {
    if (!isOn) return;
    isOn = false;
    try {
      process.stdin.setRawMode(false);
      // What was written before is out already; at the end of a process nothing else would be.
      writeSync(1, `${more.off}${leave}`);
    } catch {
      // The terminal went away.
    }
  };
  const stop = (): void => {
    if (!isLent) events.onStop();
    off();
    process.kill(process.pid, "SIGSTOP");
  };
  const goOn = (): void => {
    if (isOn || isLent) return;
    on();
    events.onContinue();
  };
  process.on("exit", off);
  process.on("SIGTSTP", stop);
  process.on("SIGCONT", goOn);
  on();
  return {
    suspend: stop,
    lend: async (work) => {
      isLent = true;
      off();
      try {
        return await work();
      } finally {
        isLent = false;
        goOn();
      }
    },
    restore: () => {
      process.off("exit", off);
      process.off("SIGTSTP", stop);
      process.off("SIGCONT", goOn);
      off();
    },
  };
}
