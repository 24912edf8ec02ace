/** Durably creates a folder that only this user can read, with its missing parents. */
import { lstatSync } from "node:fs";
import { dirname } from "node:path";
import { errorCode } from "../file-failure.ts";
import type { Disk } from "./disk.ts";
import { syncFolders } from "./sync-folders.ts";

/** Only for Lathe's own folders, outside the workspace. Throws the file system's errors. */
export function makeFolder(folder: string, disk: Disk): void {
  if (lstatSync(folder, { throwIfNoEntry: false })) return;
  makeFolder(dirname(folder), disk);
  try {
    disk.mkdir(folder, 0o700);
  } catch (error) {
    if (errorCode(error) === "EEXIST") return;
    throw error;
  }
  syncFolders([dirname(folder)], disk);
}
