/** This process as an owner of sessions, and whether another owner's process still runs. */
import { readFileSync } from "node:fs";
import type { Owner } from "@lathe/protocol";

/** On Linux `startedAt` is in clock ticks since the machine started, elsewhere in milliseconds since the epoch. */
export function processOwner(): Owner {
  // Asked for here, so that a session that is only read loads nothing more.
  const { hostname } = process.getBuiltinModule("node:os");
  const startedAt = statOf(process.pid)?.startedAt ?? Math.round(Date.now() - process.uptime() * 1000);
  return { host: hostname(), pid: process.pid, startedAt };
}

/** Whether an owner on this host still runs; a process with the same pid that started at another time does not count. */
export function isProcessAlive({ pid, startedAt }: Owner): boolean {
  if (!hasPid(pid)) return false;
  const stat = statOf(pid);
  // Elsewhere than on Linux a pid used again looks alive: then a person has to force the claim.
  if (stat === undefined) return true;
  return stat.startedAt === startedAt && !stat.isDead;
}

function hasPid(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** proc_pid_stat(5): field 3 is the state, field 22 the start; field 2, in brackets, may hold anything. */
function statOf(pid: number): { readonly startedAt: number; readonly isDead: boolean } | undefined {
  if (process.platform !== "linux") return undefined;
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return { startedAt: Number(fields[19]), isDead: fields[0] === "Z" || fields[0] === "X" };
  } catch {
    return undefined;
  }
}
