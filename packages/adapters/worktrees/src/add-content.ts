/** Adds the content of a file to a hash, in pieces, since a file may be longer than Node reads at once. */
import type { Hash } from "node:crypto";
import { closeSync, readSync } from "node:fs";
import { openEntry } from "@lathe/system/held-folder";

const pieceBytes = 1024 * 1024;

/** Throws file system errors. */
export function addContentOf(hash: Hash, path: string | Buffer): void {
  const file = openEntry(path);
  try {
    const piece = Buffer.allocUnsafe(pieceBytes);
    for (let size = readSync(file, piece); size > 0; size = readSync(file, piece)) {
      hash.update(piece.subarray(0, size));
    }
  } finally {
    closeSync(file);
  }
}
