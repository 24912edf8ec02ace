/** Tells that a path that was real leads elsewhere now. */
import { realpathSync } from "node:fs";
import { dirname } from "node:path";
import { errorCode } from "../file-failure.ts";

/** Whether a link now stands in for a part of the path. */
export function isMoved(folder: string): boolean {
  try {
    return realpathSync.native(folder) !== folder;
  } catch (error) {
    if (!["ENOENT", "ENOTDIR"].includes(errorCode(error))) throw error;
    const above = dirname(folder);
    return above !== folder && isMoved(above);
  }
}
