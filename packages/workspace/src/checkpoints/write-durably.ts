/** Writes a new file that survives a power cut once this returns; its name is for the caller to make so. */
import { closeSync, fsyncSync, openSync, writeSync } from "node:fs";
import { open } from "node:fs/promises";

/** Above this many bytes the event loop is not held up; below, the way through Node's threads takes longer than the disk. */
const largeBytes = 256 * 1024;

/** `EEXIST` when there is such a file. */
export async function writeDurably(path: string, bytes: Buffer): Promise<void> {
  if (bytes.length > largeBytes) return writeAside(path, bytes);
  const file = openSync(path, "wx", 0o600);
  try {
    for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

async function writeAside(path: string, bytes: Buffer): Promise<void> {
  const file = await open(path, "wx", 0o600);
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}
