/** Removing a folder with all in it, also files whose modes deny reading and writing. */
import { chmodSync, readdirSync, rmdirSync, rmSync, unlinkSync } from "node:fs";
import { orphanedFolders } from "./owned-folder.ts";

/** Folders that may not be read or written are opened first; names may be any bytes. */
export function removeTree(folder: Buffer): void {
  chmodSync(folder, 0o700);
  for (const entry of readdirSync(folder, { withFileTypes: true, encoding: "buffer" })) {
    const path = Buffer.concat([folder, Buffer.from("/"), entry.name]);
    if (entry.isDirectory()) removeTree(path);
    else unlinkSync(path);
  }
  rmdirSync(folder);
}

/** *Contract:* never throws: what another user's or another process's hand keeps there stays. */
export function removeFolder(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true, maxRetries: 3 });
  } catch {
    try {
      // Go's cache of modules, for one, is read-only.
      removeTree(Buffer.from(path));
    } catch {
      // It must not stand in the way of what is to be done now.
    }
  }
}

/** *Contract:* as `removeFolder`, each by itself. */
export function removeOrphans(kind: string, temp?: string): void {
  for (const path of orphanedFolders(kind, temp)) removeFolder(path);
}
