/** Which process a journal or a lock belongs to, written as a name, and whether that process still runs. */
import { createHash, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { hostname, uptime } from "node:os";

/** `startedAt` is in clock ticks since the machine started on Linux, elsewhere in milliseconds since the epoch. */
export interface ProcessOwner {
  /** Of one workspace object, drawn at random. */
  readonly id: string;
  readonly pid: number;
  readonly startedAt: number;
  /** Hashes: of the host's name, and of what is another after each start of the machine. */
  readonly host: string;
  readonly boot: string;
}

let own: Omit<ProcessOwner, "id"> | undefined;

export function newOwner(): ProcessOwner {
  own ??= {
    pid: process.pid,
    startedAt: statOf(process.pid)?.startedAt ?? Math.round(Date.now() - process.uptime() * 1000),
    ...here(),
  };
  return { id: randomBytes(6).toString("hex"), ...own };
}

export function ownerName({ id, pid, startedAt, host, boot }: ProcessOwner): string {
  return [id, pid, startedAt, host, boot].join("-");
}

/** Undefined for what is no owner's name. */
export function parseOwner(name: string): ProcessOwner | undefined {
  const found = /^([0-9a-f]{12})-(\d+)-(\d+)-([0-9a-f]{8})-([0-9a-f]{8})$/.exec(name);
  if (!found) return undefined;
  const [, id = "", pid, startedAt, host = "", boot = ""] = found;
  return { id, pid: Number(pid), startedAt: Number(startedAt), host, boot };
}

/** An owner on another host counts as running: nobody here can tell. */
export function isOwnerAlive(owner: ProcessOwner): boolean {
  const { host, boot } = here();
  if (owner.host !== host) return true;
  if (owner.boot !== boot || !hasPid(owner.pid)) return false;
  const stat = statOf(owner.pid);
  // Elsewhere than on Linux only the machine's start tells a pid used again from the owner's.
  if (stat === undefined) return owner.startedAt > Date.now() - uptime() * 1000 - clockSlackMs;
  return stat.startedAt === owner.startedAt && !stat.isDead;
}

const clockSlackMs = 60_000;
let known: Pick<ProcessOwner, "host" | "boot"> | undefined;

function here(): Pick<ProcessOwner, "host" | "boot"> {
  known ??= { host: short(hostname()), boot: short(bootId()) };
  return known;
}

function short(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 8);
}

function bootId(): string {
  if (process.platform !== "linux") return "";
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8");
  } catch {
    // Without it a pid and its start have to do.
    return "";
  }
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
