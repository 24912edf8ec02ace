/** Stuck process: notices that a program waits for something that never comes, as in opening a pipe that has no writer. */
import { readdirSync, readFileSync } from "node:fs";

/** Milliseconds between two looks. */
const usualMs = 2_000;
/** Looks without progress after which it counts as stuck. */
const maxLooks = 3;

/**
 * *Contract:* calls `onStuck` once, when the process has neither used the processor nor waited for a disk for some
 * seconds; never where the system does not tell. Returns a function that ends the watch.
 */
export function watchProgress(
  pid: number | undefined,
  onStuck: () => void,
  lookMs: number = usualMs,
): () => void {
  if (pid === undefined || process.platform !== "linux") return () => undefined;
  let before = "";
  let looks = 0;
  const timer = setInterval(() => {
    const now = progressOf(pid);
    looks = now !== undefined && now === before ? looks + 1 : 0;
    before = now ?? "";
    if (looks < maxLooks) return;
    clearInterval(timer);
    onStuck();
  }, lookMs);
  timer.unref();
  return () => clearInterval(timer);
}

/**
 * Processor time of all its threads; undefined if one waits for a disk, or it is unknown. proc_pid_stat(5).
 */
function progressOf(pid: number): string | undefined {
  try {
    const threads = readdirSync(`/proc/${pid}/task`).map((thread) => {
      const text = readFileSync(`/proc/${pid}/task/${thread}/stat`, "utf8");
      const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
      return { state: fields[0], ticks: Number(fields[11]) + Number(fields[12]) };
    });
    if (threads.some(({ state }) => state !== "S")) return undefined;
    return String(threads.reduce((sum, { ticks }) => sum + ticks, 0));
  } catch {
    // It has ended.
    return undefined;
  }
}
