/** Clear: empties a project's folder except for installed packages, and nothing beyond it. */
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { isRealFolder } from "../own-files.ts";

const installedFolders = /^(?:node_modules|\.venv)$|\.egg-info$/;

/** Removes everything except installed packages. */
export function clear(folder: string): void {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const isOwn = isRealFolder(path);
    if (isOwn && installedFolders.test(name)) continue;
    // Folders that may contain packages installed in development mode.
    if (isOwn && /^(?:src|lib)$/.test(name)) keepOnlyInstalled(path);
    else rmSync(path, { recursive: true, force: true });
  }
}

function keepOnlyInstalled(folder: string): void {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (!(name.endsWith(".egg-info") && isRealFolder(path))) rmSync(path, { recursive: true, force: true });
  }
}
