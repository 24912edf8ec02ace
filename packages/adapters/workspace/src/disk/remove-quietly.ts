/** Removes one of Lathe's own files, ignoring failures. */
import { unlinkSync } from "node:fs";

/** The file may be missing, or renamed or removed by another process; leftovers are swept later. */
export function removeQuietly(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // Leftovers are swept later.
  }
}
