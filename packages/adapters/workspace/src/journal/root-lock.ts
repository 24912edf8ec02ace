/**
 * Keeps effects of several processes on one folder apart: the lock is a second name for the holder's journal.
 */
import { readFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { type Failure, failure } from "@lathe/protocol";
import type { Disk } from "../disk/disk.ts";
import { withoutLinks } from "../disk/without-links.ts";
import { errorCode, fileFailure } from "../file-failure.ts";
import { decodeRecords } from "./journal-record.ts";
import { ownerName, type ProcessOwner, parseOwner } from "./process-owner.ts";

/** An effect takes milliseconds; a longer holder is stopped, or its disk is. */
const waitMs = 10_000;
const pollMs = 2;

export interface LockOptions {
  readonly path: string;
  readonly disk: Disk;
  readonly owner: ProcessOwner;
  /** The holder's journal, which names it. */
  readonly journal: string;
  readonly isAlive: (owner: ProcessOwner) => boolean;
  readonly signal?: AbortSignal | undefined;
  /** Recovers leftovers of dead processes, including this lock. */
  readonly recover: () => Promise<void>;
}

/** *Contract:* not reentrant; a lock that its own holder could not remove counts as free for it. */
export async function acquireLock(options: LockOptions): Promise<Failure | undefined> {
  const { path, owner, isAlive, signal } = options;
  const deadline = performance.now() + waitMs;
  for (;;) {
    if (signal?.aborted) return failure("cancelled", "Nothing was written: it was cancelled.");
    try {
      make(options);
      return undefined;
    } catch (error) {
      if (errorCode(error) !== "EEXIST") return fileFailure(path, error);
    }
    const holder = lockHolder(path);
    if (holder?.id === owner.id) return undefined;
    if (holder && !isAlive(holder)) await options.recover();
    if (performance.now() > deadline) return held(path, holder);
    await setTimeout(pollMs);
  }
}

/** Undefined if it is free, or its content cannot be read. */
export function lockHolder(path: string): ProcessOwner | undefined {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    errorCode(error);
    return undefined;
  }
  const first = decodeRecords(bytes)[0]?.record;
  return first?.type === "owner" ? parseOwner(first.owner) : undefined;
}

function make({ path, disk, journal }: LockOptions): void {
  withoutLinks(
    () => disk.link(journal, path),
    () => disk.write(path, readFileSync(journal), { mode: 0o600 }),
  );
}

function held(path: string, holder: ProcessOwner | undefined): Failure {
  const who = holder ? `process ${holder.pid} (${ownerName(holder)})` : "an unknown process";
  return failure(
    "no-access",
    `Nothing was written: ${who} has been writing in this folder for too long. End it, or remove ${path} if it is dead.`,
    { retry: "same" },
  );
}
