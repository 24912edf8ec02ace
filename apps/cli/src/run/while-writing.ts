/** While writing: a signal does not leave half of what is to be done all or none; it is heard before that, or comes after it. */
import { whileBusy } from "../output/while-busy.ts";

/** As `whileBusy`; the signal is aborted by the first of those that would end us. */
export async function whileWriting<T>(
  text: string,
  work: (tell: (lines: string) => void, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const told = new AbortController();
  const hold = (): void => told.abort();
  for (const signal of held) process.on(signal, hold);
  try {
    return await whileBusy(text, (tell) => work(tell, told.signal));
  } finally {
    for (const signal of held) process.off(signal, hold);
  }
}

const held = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
