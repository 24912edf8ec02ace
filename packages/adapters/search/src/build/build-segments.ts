/** Builds segments of many files, on worker threads if there is enough work. */
import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import { decodeSegment, type HeldSegment, type Segment } from "../segments/segment.ts";
import { SegmentBuilder } from "../segments/segment-builder.ts";
import type { SegmentCache } from "../segments/segment-cache.ts";
import type { FromWorker, WorkerOptions } from "./build-worker.ts";
import { type FileOnDisk, indexFiles, type ReadFile } from "./index-files.ts";

export interface SizedFile extends FileOnDisk {
  /** Bytes to read of it. */
  readonly size: number;
}

export interface Building {
  readonly root: string;
  /** The folder for segments; absent to keep them in memory. */
  readonly folder?: string;
  readonly cache: SegmentCache;
  readonly files: readonly SizedFile[];
  /** Approximate bytes of files in one segment. */
  readonly segmentBytes: number;
  readonly onProgress: (done: number, total: number) => void;
  readonly signal: AbortSignal;
}

export interface Built {
  readonly segment: Segment;
  /** The segment itself if it is only in memory. */
  readonly held?: HeldSegment;
  readonly files: readonly ReadFile[];
}

/**
 * Bytes of files in one segment: a thread needs about four times as much memory, whatever the size of the
 * tree.
 */
export const usualSegmentBytes = 12_000_000;
/** Less work is done faster than a thread starts. */
const forThreads = 4_000_000;
/** Threads while memory matters more than time, and bytes of files that justify another one. */
const fewThreads = 2;
const maxThreads = 4;
const forAnotherThread = 300_000_000;
/** Collect a thread's garbage early: its data is outside its heap. */
const resourceLimits = { maxYoungGenerationSizeMb: 6 };

/** *Contract:* every readable file is in one of the segments; rejects if aborted. */
export async function buildSegments(building: Building): Promise<readonly Built[]> {
  const { root, files, segmentBytes, signal } = building;
  const total = files.reduce((sum, { size }) => sum + size, 0);
  if (total < Math.min(forThreads, segmentBytes)) return [builtHere(root, files)];
  const threads = Math.min(
    maxThreads,
    availableParallelism(),
    fewThreads + Math.floor(total / forAnotherThread),
  );
  const waiting = [...shared(files, Math.max(threads, Math.ceil(total / segmentBytes)))];
  const stop = new AbortController();
  const until = AbortSignal.any([signal, stop.signal]);
  const built: Built[] = [];
  let done = 0;
  const advance = (count: number): void => {
    done += count;
    building.onProgress(done, files.length);
  };
  const line = async (): Promise<void> => {
    const thread = openThread(building, { advance, signal: until });
    try {
      for (let share = waiting.shift(); share; share = waiting.shift())
        built.push((await thread.build(share)) ?? builtHere(root, share));
    } catch (error) {
      // The others need not continue.
      stop.abort(error);
      throw error;
    } finally {
      await thread.close();
    }
  };
  await Promise.all(Array.from({ length: Math.min(threads, waiting.length) }, line));
  return built;
}

function builtHere(root: string, share: readonly FileOnDisk[]): Built {
  const { segment, files } = indexFiles(root, share, { builder: new SegmentBuilder() });
  return { segment, held: segment, files };
}

/** Shares with about equal bytes; neighbouring files stay together because they share words. */
function shared(files: readonly SizedFile[], parts: number): readonly (readonly FileOnDisk[])[] {
  const sized = files.map(({ size, ...file }) => ({ file, bytes: size + 500 }));
  const most = sized.reduce((sum, { bytes }) => sum + bytes, 0) / parts;
  const shares: FileOnDisk[][] = [];
  let filled = most;
  for (const { file, bytes } of sized.sort((a, b) => (a.file.path < b.file.path ? -1 : 1))) {
    if (filled >= most) {
      shares.push([]);
      filled -= most;
    }
    shares.at(-1)?.push(file);
    filled += bytes;
  }
  return shares;
}

interface Thread {
  /**
   * *Contract:* one share at a time; undefined if the stored result cannot be read: it may have been removed
   * already.
   */
  build(share: readonly FileOnDisk[]): Promise<Built | undefined>;
  close(): Promise<unknown>;
}

function openThread(
  { root, folder, cache }: Building,
  { advance, signal }: { readonly advance: (files: number) => void; readonly signal: AbortSignal },
): Thread {
  const file = import.meta.url.endsWith(".ts") ? "./build-worker.ts" : "./build-worker.js";
  const workerData: WorkerOptions = { root, ...(folder !== undefined && { folder }) };
  const worker = new Worker(new URL(file, import.meta.url), { workerData, resourceLimits });
  let asked = Promise.withResolvers<Built | undefined>();
  asked.promise.catch(() => {});
  const abort = (): void => asked.reject(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort, { once: true });
  worker.on("message", (message: FromWorker) => {
    if (message.type === "progress") return advance(message.files);
    const held = "name" in message ? undefined : decodeSegment(message.bytes);
    const segment = "name" in message ? cache.open(message.name) : held;
    asked.resolve(segment && { segment, files: message.files, ...(held && { held }) });
  });
  worker.on("error", (error) => asked.reject(error));
  worker.on("exit", () => asked.reject(new Error("a build thread ended early")));
  return {
    build(share) {
      if (signal.aborted) return Promise.reject(signal.reason);
      asked = Promise.withResolvers<Built | undefined>();
      worker.postMessage(share);
      return asked.promise;
    },
    close() {
      signal.removeEventListener("abort", abort);
      // The waiting caller has already been informed.
      asked.promise.catch(() => {});
      return worker.terminate();
    },
  };
}
