/** Remove written: takes away the files that a checker wrote for itself in the workspace, and that were not there before. */
import { realpath, stat, unlink } from "node:fs/promises";
import { isAbsolute, join, sep } from "node:path";

/** *Contract:* `since` in milliseconds: before the checker was started; never throws. */
export async function removeWritten(
  paths: readonly string[],
  { root, folder, since }: { readonly root: string; readonly folder: string; readonly since: number },
): Promise<void> {
  for (const path of paths) await removeOne(isAbsolute(path) ? path : join(root, folder, path), root, since);
}

async function removeOne(path: string, root: string, since: number): Promise<void> {
  try {
    const real = await realpath(path);
    const found = await stat(real);
    // One that was there before is somebody's, though it may be another now.
    const isNew = found.isFile() && found.birthtimeMs > since;
    if (isNew && real.startsWith(`${root}${sep}`)) await unlink(real);
  } catch {
    // It is not there, or may not be taken away.
  }
}
