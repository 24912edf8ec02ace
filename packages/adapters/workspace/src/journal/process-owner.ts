/** Names the process that owns a journal or a lock, and checks whether it still runs. */
import { createHash, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { isRunning, ownMark, type ProcessMark } from "@lathe/system";

export interface ProcessOwner extends ProcessMark {
  /** Id of one workspace object, drawn at random. */
  readonly id: string;
  /** Hashes of the host's name, and of a value that changes at each boot. */
  readonly host: string;
  readonly boot: string;
}

export function newOwner(): ProcessOwner {
  return { id: randomBytes(6).toString("hex"), ...ownMark(), ...here() };
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

/** An owner on another host counts as running: its state is unknown here. */
export function isOwnerAlive(owner: ProcessOwner): boolean {
  const { host, boot } = here();
  if (owner.host !== host) return true;
  return owner.boot === boot && isRunning(owner);
}

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
    // Without it a pid and its start time must do.
    return "";
  }
}
