/** Digest: one hash of the names and contents of a file, or of all files below a folder. */
import { createHash, type Hash } from "node:crypto";
import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";

export function digestOf(path: string): string {
  const hash = createHash("sha256");
  visit(path, "", hash);
  return hash.digest("hex");
}

function visit(root: string, path: string, hash: Hash): void {
  const place = join(root, path);
  const kind = lstatSync(place, { throwIfNoEntry: false });
  if (kind?.isDirectory()) for (const name of readdirSync(place).sort()) visit(root, join(path, name), hash);
  else if (kind?.isSymbolicLink()) hash.update(`${path}\0link\0${readlinkSync(place)}\0`);
  else if (kind?.isFile())
    hash.update(`${path}\0${kind.mode & 0o111}\0${kind.size}\0`).update(readFileSync(place));
}
