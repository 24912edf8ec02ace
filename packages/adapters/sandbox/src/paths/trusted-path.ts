/** Whether a path can be trusted: owned by this user or root, and writable by no other user. */
import { lstatSync } from "node:fs";

/** Returns false for a link and for a missing file. */
export function isTrusted(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (!found || found.isSymbolicLink()) return false;
  const isOwn = found.uid === process.geteuid?.() || found.uid === 0;
  return isOwn && (found.mode & 0o022) === 0;
}
