/** Interruptions: the first signal ends the turn and all it started, the second one ends us. */

/** What is interrupted. */
interface Interruptible {
  cancel(by: string): Promise<unknown>;
  close(): Promise<unknown>;
}

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
const interrupted = 130;
/** How long a hasty end still waits for processes to be ended. */
const graceMs = 1000;

/** Returns the way to stop listening. */
export function interruptions(session: Interruptible): () => void {
  let count = 0;
  const onSignal = (signal: string): void => {
    count++;
    if (count === 1) {
      void session.cancel(signal === "SIGINT" ? "user" : signal);
      return;
    }
    setTimeout(() => process.exit(interrupted), graceMs);
    void session.close().finally(() => process.exit(interrupted));
  };
  for (const signal of signals) process.on(signal, onSignal);
  return () => {
    for (const signal of signals) process.off(signal, onSignal);
  };
}
