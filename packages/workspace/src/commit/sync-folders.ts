/** Makes the names in folders durable, where the disk can. */
import type { Failure } from "@lathe/protocol";
import type { Disk } from "../disk.ts";
import { errorCode, fileFailure } from "../file-failure.ts";

const unable = new Set(["EINVAL", "ENOTSUP", "EOPNOTSUPP", "EPERM", "EACCES", "EBADF"]);
const gone = new Set(["ENOENT", "ENOTDIR", "ELOOP"]);

/** Throws what the file system throws. */
export function syncFolder(folder: string, disk: Disk): void {
  try {
    disk.syncFolder(folder);
  } catch (error) {
    // Some network file systems cannot; the files themselves are durable.
    if (!unable.has(errorCode(error))) throw error;
  }
}

/** Folders that are not there any more have nothing to sync. */
export function syncFolders(folders: readonly string[], disk: Disk): Failure | undefined {
  for (const folder of new Set(folders)) {
    try {
      syncFolder(folder, disk);
    } catch (error) {
      if (!gone.has(errorCode(error))) return fileFailure(folder, error);
    }
  }
  return undefined;
}
