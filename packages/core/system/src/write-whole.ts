/** Writes a file that others may be reading: they find the old content, or all of the new. */
import { randomBytes } from "node:crypto";
import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

export interface WriteWholeOptions {
  /** Survives a power cut. */
  readonly isDurable?: boolean;
}

/**
 * *Contract:* for this user alone; creates missing folders. Throws file system errors: then the old file is
 * unchanged, and nothing else is left. Replaces a link at the path instead of following it.
 */
export function writeWhole(
  path: string,
  text: string | Uint8Array,
  { isDurable = false }: WriteWholeOptions = {},
): void {
  const temporary = `${path}.${process.pid}-${randomBytes(4).toString("hex")}.tmp`;
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  try {
    writeFileSync(temporary, text, { mode: 0o600, flag: "wx", flush: isDurable });
    renameSync(temporary, path);
  } catch (cause) {
    rmSync(temporary, { force: true });
    throw cause;
  }
}
