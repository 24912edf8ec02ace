/** Puts the terminal into raw mode with marked pastes, and always restores it. */
import { writeSync } from "node:fs";

/** Turns on bracketed paste and, where supported, kitty's keyboard protocol. */
const enter = "\u001b[?2004h\u001b[>1u";
/** Shows the cursor and resets colours. */
const leave = "\u001b[?2004l\u001b[<u\u001b[?25h\u001b[0m\u001b[?2026l";
const hideCursor = "\u001b[?25l";

export interface TerminalMode {
  /** *Contract:* suspends the process like Ctrl-Z, with the terminal restored meanwhile. */
  suspend(): void;
  /** *Contract:* restores the terminal until the work is done, then calls `onContinue`. */
  lend<T>(work: () => Promise<T>): Promise<T>;
  /** *Contract:* idempotent. */
  restore(): void;
}

export interface ModeEvents {
  /** Sequences written on entering and on leaving. */
  readonly more?: { readonly on: string; readonly off: string };
  /** Clears the screen before the process stops. */
  onStop(): void;
  /** Redraws everything after the process continues. */
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
      // A synchronous write: at the end of a process, nothing else would be written.
      writeSync(1, `${more.off}${leave}`);
    } catch {
      // The terminal is gone.
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
