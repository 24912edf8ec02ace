/** Removes a file of ours of which no more is wanted. */
import { unlinkSync } from "node:fs";

/** It may never have been made, be renamed away, or be removed by somebody else; what cannot be removed is swept later. */
export function removeQuietly(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // As said above.
  }
}
