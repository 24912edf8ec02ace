/** Scratch: a folder of the session's own outside the workspace, where commands find HOME and TMPDIR. */
import { lstatSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface ScratchFolder {
  readonly path: string;
  /** *Contract:* removes it and all in it; idempotent. */
  remove(): void;
}

/** Named by the session, so that one that goes on after a crash finds and removes what it left. */
export function openScratchFolder(session: string): ScratchFolder {
  const path = ownFolder(join(realpathSync(tmpdir()), `lathe-${session}`));
  return { path, remove: () => rmSync(path, { recursive: true, force: true, maxRetries: 3 }) };
}

function ownFolder(path: string): string {
  try {
    mkdirSync(path, { mode: 0o700 });
    return path;
  } catch {
    // The folder for temporary files is open to all: what lies there is ours only when we own it.
    const stat = lstatSync(path, { throwIfNoEntry: false });
    const ours = stat?.isDirectory() && stat.uid === process.getuid?.() && (stat.mode & 0o077) === 0;
    return ours ? path : mkdtempSync(`${path}-`);
  }
}
