/** Eval lock: only one run at a time holds a folder's records. */
import { type Failure, failure } from "@lathe/protocol";
import { takeLock as takeProcessLock } from "@lathe/system";

/**
 * The path of this run's lock. *Contract:* never held by two live processes; takes over a killed run's lock.
 */
export function takeLock(out: string): string | Failure {
  try {
    const lock = takeProcessLock(out, "lock");
    return typeof lock === "string" ? lock : isTaken(out, lock.pid);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const text = `the folder ${out} cannot be written (${code}); choose another with --out`;
    return failure(code === "ENOSPC" || code === "EDQUOT" ? "disk-full" : "no-access", text, {
      who: "user",
      cause,
    });
  }
}

function isTaken(out: string, pid: number): Failure {
  const text = `${out} is being written by the process ${pid}; wait for it, or choose another folder with --out`;
  return failure("already-exists", text, { who: "user" });
}
