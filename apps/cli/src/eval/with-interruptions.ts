/** Runs long work that the first signal ends cleanly. */
import type { Failure } from "@lathe/protocol";
import { interruptions } from "../run/interruptions.ts";

/** Resolves with the exit code of an interrupt, if there was one. */
export async function withInterruptions<T>(
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T | number | Failure> {
  const abort = new AbortController();
  const cancel = async (): Promise<undefined> => void abort.abort();
  const watch = interruptions({ cancel, close: async () => undefined });
  try {
    const result = await work(abort.signal);
    return watch.code() ?? result;
  } finally {
    watch.stop();
  }
}
