/** Writes a file that is either complete and durable, or missing. */
import { basename, dirname, join } from "node:path";
import { isMissing } from "./file-errors.ts";
import type { Files } from "./files.ts";

let count = 0;

/**
 * Makes the path's folder if it is missing; the caller syncs the folder's own name. Throws like `files`.
 * `synced: false` skips the syncs: a power cut may then tear the file.
 */
export function writeWhole(
  files: Files,
  path: string,
  { bytes, synced = true }: { readonly bytes: Uint8Array; readonly synced?: boolean },
): void {
  const folder = dirname(path);
  count += 1;
  const temporary = join(folder, `.${basename(path)}.${process.pid}-${count}.tmp`);
  const fd = openIn(files, folder, temporary);
  try {
    try {
      for (let done = 0; done < bytes.length; ) done += files.write(fd, bytes.subarray(done));
      if (synced) files.sync(fd);
    } finally {
      files.close(fd);
    }
    files.rename(temporary, path);
  } catch (error) {
    removeQuietly(files, temporary);
    throw error;
  }
  if (synced) files.syncFolder(folder);
}

function openIn(files: Files, folder: string, path: string): number {
  try {
    return files.open(path, "create");
  } catch (error) {
    if (!isMissing(error)) throw error;
    files.makeFolder(folder);
    return files.open(path, "create");
  }
}

function removeQuietly(files: Files, path: string): void {
  try {
    files.remove(path);
  } catch {
    // The first error says more.
  }
}
