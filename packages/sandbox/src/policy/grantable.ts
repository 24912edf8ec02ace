/** Places that no command is ever given, whoever asks for them and whoever agrees. */
import { realpathSync } from "node:fs";
import { join } from "node:path";
import { isBelow } from "../paths/path-order.ts";

/** The machine's own: never opened, and never written. */
const hidden = ["/proc", "/sys", "/dev", "/boot", "/run", "/var/run", "/tmp"];
const system = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc"];
const own = [".config/lathe", ".cache/lathe", ".local/state/lathe", ".local/share/lathe"];

/** `path` and `home` are real paths. Not the home or what holds it, not the machine's own, not what Lathe keeps. */
export function isGrantable(path: string, isWrite: boolean, home: string): boolean {
  if (isBelow(home, path) || path.split("/").length < 3) return false;
  const shut = [...hidden, ...(isWrite ? system : []), ...own.map((name) => join(home, name))];
  return !shut.some((folder) => isBelow(path, folder) || isBelow(folder, path));
}

/** The same for who reads one file after the other: temporary ones, too. */
export function isReadable(path: string, home: string): boolean {
  return isGrantable(path, false, home) || isIn(path, "/tmp") || isIn(path, "/var/tmp");
}

function isIn(path: string, folder: string): boolean {
  return path !== folder && isBelow(path, folder);
}

/** Undefined where nothing is. */
export function realOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}
