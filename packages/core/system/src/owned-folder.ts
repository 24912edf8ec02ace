/**
 * Owned folder: a temporary folder named by the process that created it, so that leftovers of a killed one
 * are found.
 */
import { createHash } from "node:crypto";
import { lstatSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, realpathSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { isRunning, ownMark } from "./process-mark.ts";

/**
 * *Contract:* created for this user alone in the temporary folder, its path without links; throws if that
 * fails. The caller removes it.
 */
export function makeOwnedFolder(kind: string, temp: string = tmpdir()): string {
  const { pid, startedAt } = ownMark();
  const name = ["lathe", kind, pid.toString(36), startedAt.toString(36), machineMark()].join("-");
  return mkdtempSync(join(realpathSync(temp), `${name}-`));
}

/**
 * Paths of this user's folders of that kind whose process has ended. *Contract:* never throws; omits folders
 * from another machine, container or boot.
 */
export function orphanedFolders(kind: string, temp: string = tmpdir()): readonly string[] {
  const named = new RegExp(`^lathe-${kind}-([0-9a-z]+)-([0-9a-z]+)-${machineMark()}-\\w{6}$`);
  const isOrphan = (path: string, name: string): boolean => {
    const [, pid, startedAt] = named.exec(name) ?? [];
    if (pid === undefined || startedAt === undefined) return false;
    const mark = { pid: Number.parseInt(pid, 36), startedAt: Number.parseInt(startedAt, 36) };
    return !isRunning(mark) && isOurs(path);
  };
  try {
    const folder = realpathSync(temp);
    return readdirSync(folder).flatMap((name) => {
      const path = join(folder, name);
      return isOrphan(path, name) ? [path] : [];
    });
  } catch {
    return [];
  }
}

/** The temporary folder is open to all: another user's folder may have any name. */
function isOurs(path: string): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat?.isDirectory() === true && stat.uid === process.getuid?.();
}

let known: string | undefined;

/** Identifies the scope of pids: this boot of this machine, and this process namespace. */
function machineMark(): string {
  if (known !== undefined) return known;
  const parts = [
    hostname(),
    orNothing(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8")),
    orNothing(() => readlinkSync("/proc/self/ns/pid")),
  ];
  known = createHash("sha256").update(parts.join("\n")).digest("hex").slice(0, 8);
  return known;
}

/** Only Linux has such a file. */
function orNothing(read: () => string): string {
  try {
    return read();
  } catch {
    return "";
  }
}
