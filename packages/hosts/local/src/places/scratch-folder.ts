/** Scratch: a folder of the session's own outside the workspace, where commands find HOME and TMPDIR. */
import { lstatSync, mkdirSync, mkdtempSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Failure, failure } from "@lathe/protocol";
import type { ScratchFolder } from "@lathe/sessions";
import { makeOwnedFolder, removeFolder, removeOrphans } from "@lathe/system";

/** Named by the session, so that one that goes on after a crash finds and removes what it left. */
export function openScratchFolder(session: string, temp: string = tmpdir()): ScratchFolder | Failure {
  return opened(() => ownFolder(join(realpathSync(temp), `lathe-${session}`)), temp);
}

/** For what has no session; it removes what others of its kind left that were killed. */
export function openPassingScratch(kind: string, temp: string = tmpdir()): ScratchFolder | Failure {
  removeOrphans(kind, temp);
  return opened(() => ({ path: makeOwnedFolder(kind, temp), isFound: false }), temp);
}

type Made = Pick<ScratchFolder, "path" | "isFound">;

function opened(make: () => Made, temp: string): ScratchFolder | Failure {
  try {
    const own = make();
    return { ...own, remove: () => removeFolder(own.path) };
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const full = code === "ENOSPC" || code === "EDQUOT";
    const text = `no temporary folder can be made in ${temp} (${full ? "it is full" : code})`;
    const todo = `${full ? "free some space there, or set" : "set"} TMPDIR to a folder that can be written`;
    return failure(full ? "disk-full" : "no-access", `${text}; ${todo}`, { who: "host", cause });
  }
}

/** Where nothing is to be run: nothing is made, so that whoever is killed leaves nothing. */
export function unmadeScratch(session: string, temp: string = tmpdir()): ScratchFolder {
  return { path: join(temp, `lathe-${session}`), isFound: false, remove: () => undefined };
}

function ownFolder(path: string): Made {
  try {
    mkdirSync(path, { mode: 0o700 });
    return { path, isFound: false };
  } catch {
    // The folder for temporary files is open to all: what lies there is ours only when we own it.
    return isOurs(path) ? { path, isFound: true } : { path: mkdtempSync(`${path}-`), isFound: false };
  }
}

function isOurs(path: string): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat?.isDirectory() === true && stat.uid === process.getuid?.() && (stat.mode & 0o077) === 0;
}
