/** Prepares folders for forks ahead of time: on a large disk, creating one is the slowest part of a fork. */
import { randomBytes } from "node:crypto";
import { mkdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** How many to keep ready; each is two empty folders and an empty file. */
const most = 2;
const spareName = ".spare-";
const newName = ".new-";
/** Delay until the process is likely to be idle. */
const laterMs = 30;
/** A process that is preparing one takes milliseconds. */
const abandonedMs = 60_000;

/** *Contract:* creates a folder with the contents every fork has: two folders, and a file of this name. */
export function takeFolder(forks: string, id: string, metaName: string): string {
  const folder = join(forks, id);
  if (!takeSpare(forks, folder)) {
    mkdirSync(forks, { recursive: true, mode: 0o700 });
    makeFolders(folder, metaName);
  }
  setTimeout(() => makeSpares(forks, metaName), laterMs).unref();
  return folder;
}

/** Only one process can win a rename. */
function takeSpare(forks: string, folder: string): boolean {
  for (let at = 0; at < most; at++) {
    try {
      renameSync(join(forks, `${spareName}${at}`), folder);
      return true;
    } catch {
      // Another process took it, or none was prepared.
    }
  }
  return false;
}

/** Does nothing if the folder of forks was deleted meanwhile. */
function makeFolders(folder: string, metaName: string): void {
  mkdirSync(folder, { mode: 0o700 });
  for (const name of ["upper", "work"]) mkdirSync(join(folder, name), { mode: 0o700 });
  writeFileSync(join(folder, metaName), "", { mode: 0o600 });
}

function makeSpares(forks: string, metaName: string): void {
  const made = join(forks, `${newName}${randomBytes(6).toString("hex")}`);
  try {
    for (let at = 0; at < most; at++) {
      const spare = join(forks, `${spareName}${at}`);
      if (statSync(spare, { throwIfNoEntry: false })) continue;
      makeFolders(made, metaName);
      renameSync(made, spare);
    }
  } catch {
    // Another process was faster, or the disk is full: the next fork creates its own folder.
    rmSync(made, { recursive: true, force: true });
  }
}

/** Whether a process started to prepare the folder and never finished. */
export function isAbandoned(forks: string, name: string): boolean {
  if (!name.startsWith(newName)) return false;
  const stats = statSync(join(forks, name), { throwIfNoEntry: false });
  return stats !== undefined && Date.now() - stats.mtimeMs > abandonedMs;
}
