/**
 * Read HTML: converts any page to text within a time limit: building its tree takes more than linear time.
 */
import { Worker } from "node:worker_threads";
import type { Page } from "./html-worker.ts";

/** Characters of a page that needs no thread: at worst it takes some hundredths of a second. */
const maxInline = 32_768;
const memoryMb = 512;

/**
 * *Contract:* undefined if it took longer than `ms`, or more memory than allowed; rejects once the signal
 * aborted.
 */
export async function readHtml(
  html: string,
  url: URL,
  { ms, signal }: { readonly ms: number; readonly signal: AbortSignal },
): Promise<string | undefined> {
  if (html.length <= maxInline) return (await import("./html-text.ts")).htmlText(html, url);
  signal.throwIfAborted();
  const file = import.meta.url.endsWith(".ts") ? "./html-worker.ts" : "./html-worker.js";
  const page: Page = { html, href: url.href };
  const worker = new Worker(new URL(file, import.meta.url), {
    workerData: page,
    resourceLimits: { maxOldGenerationSizeMb: memoryMb },
  });
  const { promise, resolve, reject } = Promise.withResolvers<string | undefined>();
  const timer = setTimeout(resolve, ms, undefined);
  const abort = (): void => reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  worker.once("message", resolve).once("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "ERR_WORKER_OUT_OF_MEMORY") resolve(undefined);
    else reject(error);
  });
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", abort);
    await worker.terminate();
  }
}
