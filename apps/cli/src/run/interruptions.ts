/** Handles signals: the first one ends the work and its processes, the second one ends Lathe itself. */
import { type Failure, isFailure } from "@lathe/protocol";
import { problemLine } from "../command-line/show-failure.ts";
import { onBrokenPipe } from "../output/broken-pipe.ts";

/** Work that can be cancelled. */
interface Interruptible {
  /** *Contract:* the work ends soon; a failure if the cancel cannot be saved. */
  cancel(by: string): Promise<Failure | undefined>;
  close(): Promise<unknown>;
}

export interface Interruptions {
  /** The exit code of the interrupt; undefined if there was none. */
  code(): number | undefined;
  stop(): void;
}

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
const interrupted = 130;
/** How long a forced exit waits for processes to end. */
const graceMs = 1000;

export function interruptions(work: Interruptible): Interruptions {
  let code: number | undefined;
  const endNow = (): void => {
    setTimeout(() => process.exit(code), graceMs);
    void work.close().finally(() => process.exit(code));
  };
  const cancel = async (signal: string): Promise<void> => {
    const refused = await work.cancel(signal === "SIGINT" ? "user" : signal);
    if (!isFailure(refused)) return;
    process.stderr.write(problemLine(refused.text));
    endNow();
  };
  const onSignal = (signal: string): void => {
    if (code !== undefined) {
      endNow();
      return;
    }
    code = interrupted;
    void cancel(signal);
  };
  // Each further write breaks the pipe again.
  const onBroken = (exitCode: number): void => {
    if (code !== undefined) return;
    code = exitCode;
    void cancel("SIGPIPE");
  };
  for (const signal of signals) process.on(signal, onSignal);
  const stopListening = onBrokenPipe(onBroken);
  return {
    code: () => code,
    stop: () => {
      stopListening();
      for (const signal of signals) process.off(signal, onSignal);
    },
  };
}
