/** Process lock: one process at a time owns a file in a folder; another takes over after it was killed. */
import { randomBytes } from "node:crypto";
import { linkSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isRunning, ownMark, type ProcessMark } from "./process-mark.ts";

interface Lock extends ProcessMark {
  readonly path: string;
  readonly number: number;
}

/**
 * The path of the lock, which the caller removes; else the mark of its owner. *Contract:* never given to two
 * living processes; throws file system errors. Each process links its own complete number first and checks
 * the others after that, and gives up if one is alive. So a dead process's lock need not be removed first,
 * when it might already be another's.
 */
export function takeLock(folder: string, name: string): string | ProcessMark {
  const { pid, startedAt } = ownMark();
  const mine = join(folder, `new-${name}-${pid}-${randomBytes(4).toString("hex")}`);
  try {
    writeFileSync(mine, `${pid} ${startedAt}\n`, { flag: "wx" });
    return linkNext(folder, name, mine);
  } finally {
    rmSync(mine, { force: true });
  }
}

function linkNext(folder: string, name: string, mine: string): string | ProcessMark {
  for (;;) {
    const found = locksIn(folder, name);
    const owner = found.find(isRunning);
    if (owner) return owner;
    const number = Math.max(0, ...found.map((one) => one.number)) + 1;
    const path = join(folder, number === 1 ? name : `${name}.${number}`);
    if (!link(mine, path)) continue;
    const others = locksIn(folder, name).filter((one) => one.path !== path);
    const other = others.find(isRunning);
    for (const { path: left } of other ? [{ path }] : others) rmSync(left, { force: true });
    return other ?? path;
  }
}

/** False if another process has the name. */
function link(file: string, path: string): boolean {
  try {
    linkSync(file, path);
    return true;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw cause;
  }
}

function locksIn(folder: string, name: string): readonly Lock[] {
  return readdirSync(folder).flatMap((one) => {
    const number = one === name ? 1 : one.startsWith(`${name}.`) ? Number(one.slice(name.length + 1)) : 0;
    if (!Number.isSafeInteger(number) || number < 1) return [];
    const path = join(folder, one);
    const [pid, startedAt] = readText(path).split(" ").map(Number);
    return [{ path, number, pid: pid || 0, startedAt: startedAt || 0 }];
  });
}

/**
 * Empty for one that is gone meanwhile; one that is unreadable for another reason could belong to any
 * process.
 */
function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw cause;
  }
}
