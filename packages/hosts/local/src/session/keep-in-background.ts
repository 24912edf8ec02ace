/** Keep in background: measures due sessions in a separate process, at most once an hour. */
import { spawn } from "node:child_process";
import { mkdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { constants, setPriority } from "node:os";
import { dirname, join } from "node:path";
import { stateFolder } from "../places/state-folder.ts";

const hourMs = 3_600_000;

interface Place {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Program and arguments that measure, silently and for a limited time. */
  readonly command: readonly string[];
  readonly now: number;
}

/** *Contract:* never throws; true if a process was started. Without write access nothing is measured. */
export function keepInBackground({ env, command, now }: Place): boolean {
  if (env.LATHE_KEEP === "off" || !isMyTurn(join(stateFolder(env), "keep-measured"), now)) return false;
  const [file = "", ...args] = command;
  const child = spawn(file, args, {
    cwd: stateFolder(env),
    env,
    stdio: "ignore",
    detached: true,
  });
  // This process may end long before the child does.
  child.unref();
  child.on("error", () => undefined);
  try {
    if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_LOW);
  } catch {
    // The process has already ended.
  }
  return true;
}

/** Only one of two processes gets the turn. The first session only sets the stamp: nothing is due yet. */
function isMyTurn(stamp: string, now: number): boolean {
  const taken = `${stamp}.${process.pid}`;
  try {
    const last = statSync(stamp, { throwIfNoEntry: false })?.mtimeMs;
    if (last !== undefined && Math.abs(now - last) < hourMs) return false;
    mkdirSync(dirname(stamp), { recursive: true, mode: 0o700 });
    if (last !== undefined) renameSync(stamp, taken);
    writeFileSync(stamp, "", { mode: 0o600 });
    rmSync(taken, { force: true });
    return last !== undefined;
  } catch {
    return false;
  }
}
