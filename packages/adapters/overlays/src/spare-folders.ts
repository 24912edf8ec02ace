/** Folders of forks made ahead: on a large disk to make one takes longer than all else that a fork is. */
import { randomBytes } from "node:crypto";
import { mkdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** How many are kept; each is two empty folders and an empty file. */
const most = 2;
const spareName = ".spare-";
const newName = ".new-";
/** While nothing else is waited for. */
const laterMs = 30;
/** A process that is at it takes milliseconds. */
const abandonedMs = 60_000;

/** *Contract:* makes the folder with what every fork has in it: two folders, and a file of this name. */
export function takeFolder(forks: string, id: string, metaName: string): string {
  const folder = join(forks, id);
  if (!takeSpare(forks, folder)) {
    mkdirSync(forks, { recursive: true, mode: 0o700 });
    makeFolders(folder, metaName);
  }
  setTimeout(() => makeSpares(forks, metaName), laterMs).unref();
  return folder;
}

/** A rename has one winner. */
function takeSpare(forks: string, folder: string): boolean {
  for (let at = 0; at < most; at++) {
    try {
      renameSync(join(forks, `${spareName}${at}`), folder);
      return true;
    } catch {
      // It was taken, or never made.
    }
  }
  return false;
}

/** Not where the forks lie no more: whoever took them away has not asked for a folder. */
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
    // Another process was faster, or the disk is full: the next fork makes its own.
    rmSync(made, { recursive: true, force: true });
  }
}

/** Whether it is one that a process began and never finished. */
export function isAbandoned(forks: string, name: string): boolean {
  if (!name.startsWith(newName)) return false;
  const stats = statSync(join(forks, name), { throwIfNoEntry: false });
  return stats !== undefined && Date.now() - stats.mtimeMs > abandonedMs;
}
