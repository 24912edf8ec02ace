/** Writing a file that others may be reading: they find what was there before, or all of what is there now. */
import { randomBytes } from "node:crypto";
import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

export interface WriteWholeOptions {
  /** It outlasts a power cut. */
  readonly isDurable?: boolean;
}

/**
 * *Contract:* for this user alone, in a folder that is made where there is none. Throws what the file system throws: then
 * what was there before is there still, and nothing else. A link in its place is replaced, not followed.
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
