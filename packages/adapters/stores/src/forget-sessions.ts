/** Forget sessions: what was kept beside the logs of sessions that go, and the texts that no other log speaks of. */
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { nodeFiles } from "./files.ts";

export interface ForgetOptions {
  /** The state folder. */
  readonly folder: string;
  /** Whose logs go. */
  readonly sessions: readonly string[];
  /** What their logs said of hashes, sha256 in hexadecimal. */
  readonly hashes: ReadonlySet<string>;
  /** The folders of blobs, in the state folder. */
  readonly blobs: readonly string[];
}

const chunkBytes = 4 * 1024 * 1024;
const hashLength = 64;

/**
 * Offers, accounts, and each blob that only these logs named; how many of these there were. A session that stores the same
 * text at this very moment may find it gone. *Contract:* throws what the file system throws; may be called again.
 */
export function forgetSessions({ folder, sessions, hashes, blobs }: ForgetOptions): number {
  for (const id of sessions) {
    rmSync(join(folder, "inbox", id), { recursive: true, force: true });
    rmSync(join(folder, "ledgers", `${id}.jsonl`), { force: true });
  }
  const left = new Set(hashes);
  const own = new Set(sessions.map((id) => `${id}.jsonl`));
  for (const name of logNames(join(folder, "sessions"))) {
    if (left.size === 0) break;
    if (own.has(name)) continue;
    keepNamed(join(folder, "sessions", name), left);
  }
  let removed = 0;
  for (const hash of left) {
    for (const name of blobs) {
      const path = join(folder, name, hash.slice(0, 2), hash);
      if (nodeFiles.sizeOf(path) === undefined) continue;
      rmSync(path, { force: true });
      removed++;
    }
  }
  return removed;
}

/** Every hash that a text names. */
export function hashesIn(text: string): readonly string[] {
  return text.match(/(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])/gu) ?? [];
}

function logNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter((name) => name.endsWith(".jsonl"));
  } catch {
    return [];
  }
}

/** Takes out of `left` what the log names. */
function keepNamed(path: string, left: Set<string>): void {
  const fd = nodeFiles.open(path, "read");
  try {
    const size = nodeFiles.size(fd);
    // One hash more than a chunk, so that none is cut in two.
    for (let at = 0; at < size && left.size > 0; at += chunkBytes) {
      const from = Math.max(0, at - 1);
      const bytes = nodeFiles.read(fd, from, chunkBytes + hashLength + 2);
      for (const hash of hashesIn(Buffer.from(bytes).toString("latin1"))) left.delete(hash);
    }
  } finally {
    nodeFiles.close(fd);
  }
}
