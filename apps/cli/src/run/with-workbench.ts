/** Runs work with tools outside any session, and always cleans up, even when interrupted. */

import type { AgentOptions } from "@lathe/config";
import { openCheckTools, openWorkbench, type Workbench } from "@lathe/hosts/local";
import { type Failure, isFailure } from "@lathe/protocol";
import { interruptions } from "./interruptions.ts";

/** Resolves with the exit code of an interrupt, if there was one; an interrupt aborts `signal`. */
export async function withWorkbench<T>(
  options: AgentOptions,
  work: (bench: Workbench, signal: AbortSignal) => Promise<T>,
): Promise<T | number | Failure> {
  const abort = new AbortController();
  const unheard = { attended: false, onEvent: () => {}, onDelta: () => {} };
  const checks = await openCheckTools(options);
  const bench = openWorkbench({ ...options, ...unheard }, abort.signal, checks);
  if (isFailure(bench)) return bench;
  const cancel = async (): Promise<undefined> => void abort.abort();
  const watch = interruptions({ cancel, close: bench.close });
  try {
    const result = await work(bench, abort.signal);
    return watch.code() ?? result;
  } finally {
    await bench.close();
    watch.stop();
  }
}
