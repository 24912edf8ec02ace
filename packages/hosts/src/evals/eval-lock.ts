/** Eval lock: one run at a time has the records of a folder; what a killed one left is taken over. */
import { randomBytes } from "node:crypto";
import { linkSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Failure, failure } from "@lathe/protocol";
import { isRunning, ownMark } from "@lathe/system/process-mark";

interface Lock {
  readonly path: string;
  readonly number: number;
  readonly pid: number;
  readonly startedAt: number;
}

/**
 * The path of ours; *Contract:* never given to two that live. Each that comes links a number of its own, whole from the
 * start, and looks at the others after that: who finds one that lives lets go, so that nothing of a dead one has to be
 * taken away before, which by then could be another's.
 */
export function takeLock(out: string): string | Failure {
  const { pid, startedAt } = ownMark();
  const mine = join(out, `new-lock-${pid}-${randomBytes(4).toString("hex")}`);
  try {
    writeFileSync(mine, `${pid} ${startedAt}\n`, { flag: "wx" });
    return linkNext(out, mine);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const text = `the folder ${out} cannot be written (${code}); choose another with --out`;
    return failure(code === "ENOSPC" || code === "EDQUOT" ? "disk-full" : "no-access", text, {
      who: "user",
      cause,
    });
  } finally {
    rmSync(mine, { force: true });
  }
}

function linkNext(out: string, mine: string): string | Failure {
  for (;;) {
    const found = locksIn(out);
    const owner = found.find(isRunning);
    if (owner) return isTaken(out, owner);
    const number = Math.max(0, ...found.map((one) => one.number)) + 1;
    const path = join(out, number === 1 ? "lock" : `lock.${number}`);
    if (!link(mine, path)) continue;
    const others = locksIn(out).filter((one) => one.path !== path);
    const other = others.find(isRunning);
    for (const { path: left } of other ? [{ path }] : others) rmSync(left, { force: true });
    return other ? isTaken(out, other) : path;
  }
}

function isTaken(out: string, { pid }: Lock): Failure {
  const text = `${out} is being written by the process ${pid}; wait for it, or choose another folder with --out`;
  return failure("already-exists", text, { who: "user" });
}

/** False where another has the name. */
function link(file: string, path: string): boolean {
  try {
    linkSync(file, path);
    return true;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw cause;
  }
}

function locksIn(out: string): readonly Lock[] {
  return readdirSync(out).flatMap((name) => {
    const number = /^lock(?:\.([1-9]\d{0,8}))?$/.exec(name);
    if (!number) return [];
    const path = join(out, name);
    const [pid, startedAt] = readText(path).split(" ").map(Number);
    return [{ path, number: Number(number[1] ?? 1), pid: pid || 0, startedAt: startedAt || 0 }];
  });
}

/** Empty for one that is gone meanwhile; what cannot be read for another reason could be anybody's. */
function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw cause;
  }
}
