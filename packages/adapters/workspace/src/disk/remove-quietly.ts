/** Removes one of Lathe's own files, ignoring failures. */
import { unlinkSync } from "node:fs";

/** The file may not exist, or be renamed or removed by another process; what cannot be removed is swept later. */
export function removeQuietly(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // See above.
  }
}
