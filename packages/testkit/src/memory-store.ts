/** MemoryStore: the store, inbox and blobs ports in memory, with the contracts of the real adapters. */
import type { Blobs, Failure, Inbox, Owner } from "@lathe/protocol";
import { createMemoryBlobs } from "./memory-blobs.ts";
import { createMemoryInbox } from "./memory-inbox.ts";
import { createMemoryLogs, type MemoryLogs } from "./memory-log.ts";

export interface MemoryStoreOptions {
  /** Whether the process behind an owner still runs; by default every owner does. */
  readonly isAlive?: (owner: Owner) => boolean;
  /** Asked before every write; what it returns is what the write fails with. */
  readonly fault?: (write: "append" | "offer" | "put") => Failure | undefined;
}

export type MemoryStore = MemoryLogs & Inbox & Blobs;

/** State lives as long as the object: a second "process" of a test uses the same one with another owner. */
export function createMemoryStore(options: MemoryStoreOptions = {}): MemoryStore {
  const { isAlive = () => true, fault = () => undefined } = options;
  return {
    ...createMemoryLogs({ isAlive, fault: () => fault("append") }),
    ...createMemoryInbox(() => fault("offer")),
    ...createMemoryBlobs(() => fault("put")),
  };
}
