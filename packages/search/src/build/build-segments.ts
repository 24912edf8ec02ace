/** Builds segments of many files, on worker threads when there is enough to do. */
import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import { decodeSegment } from "../segments/segment.ts";
import type { FromWorker, Share } from "./build-worker.ts";
import { type FileOnDisk, type Indexed, indexFiles } from "./index-files.ts";

export interface SizedFile extends FileOnDisk {
  readonly size: number;
}

export interface Building {
  readonly root: string;
  readonly files: readonly SizedFile[];
  readonly onProgress: (done: number, total: number) => void;
  readonly signal: AbortSignal;
}

/** Less is done sooner than a thread starts. */
const forThreads = 4_000_000;
/** Of one segment: its words have to be fewer than two million. */
const mostBytes = 96_000_000;
/** Of one share: what a thread needs for it is let go before the next. More segments than these make queries slower. */
const fewBytes = 24_000_000;
const fewShares = 8;
const mostThreads = 4;

/** *Contract:* every file that can be read is in one of the segments; rejects when aborted. */
export async function buildSegments(building: Building): Promise<readonly Indexed[]> {
  const { root, files, onProgress, signal } = building;
  const total = files.reduce((sum, { size }) => sum + size, 0);
  if (total < forThreads) return [indexFiles(root, files)];
  const threads = Math.min(mostThreads, availableParallelism());
  const shares = shared(files, Math.max(threads, sharesOf(total)));
  let done = 0;
  const advance = (count: number): void => {
    done += count;
    onProgress(done, files.length);
  };
  const waiting = [...shares];
  const built: Indexed[] = [];
  const line = async (): Promise<void> => {
    for (let share = waiting.shift(); share; share = waiting.shift()) {
      built.push(await inThread({ root, files: share }, advance, signal));
    }
  };
  await Promise.all(Array.from({ length: threads }, line));
  return built;
}

function sharesOf(total: number): number {
  return Math.max(Math.min(fewShares, Math.ceil(total / fewBytes)), Math.ceil(total / mostBytes));
}

/** Parts of about the same number of bytes. */
function shared(files: readonly SizedFile[], parts: number): readonly (readonly SizedFile[])[] {
  const shares = Array.from({ length: parts }, () => ({ bytes: 0, files: [] as SizedFile[] }));
  for (const file of files) {
    const least = shares.reduce((a, b) => (b.bytes < a.bytes ? b : a));
    least.files.push(file);
    least.bytes += file.size + 500;
  }
  return shares.map((share) => share.files).filter((share) => share.length > 0);
}

function inThread(share: Share, advance: (files: number) => void, signal: AbortSignal): Promise<Indexed> {
  const { promise, resolve, reject } = Promise.withResolvers<Indexed>();
  const file = import.meta.url.endsWith(".ts") ? "./build-worker.ts" : "./build-worker.js";
  const worker = new Worker(new URL(file, import.meta.url), { workerData: share });
  const abort = (): void => {
    void worker.terminate();
    reject(signal.reason);
  };
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort, { once: true });
  worker.on("message", (message: FromWorker) => {
    if (message.type === "progress") return advance(message.files);
    const segment = decodeSegment(message.bytes);
    if (segment) resolve({ segment, files: message.files });
    else reject(new Error("a build thread sent a segment that is torn"));
  });
  worker.on("error", reject);
  worker.on("exit", () => {
    signal.removeEventListener("abort", abort);
    reject(new Error("a build thread ended early"));
  });
  return promise;
}
