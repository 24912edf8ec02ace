/** Interrupts the work when the output can no longer be written, and sets the exit code. */

/** The shell's code for a process that SIGPIPE killed. */
const brokenPipe = 141;
/** The code for a full disk and other write errors. */
const unwritten = 1;

type Listener = (code: number) => void;

const listeners = new Set<Listener>();
let lost: number | undefined;

/**
 * Covers only this process's own output: SIGPIPE comes for every broken pipe, even a child's input. Returns a
 * function that unsubscribes.
 */
export function onBrokenPipe(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

let isHandled = false;

/** *Contract:* idempotent: every command in this process may call it, and the streams are watched once. */
export function handleBrokenPipe(): void {
  if (isHandled) return;
  isHandled = true;
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => onLost(error, stream === process.stdout));
  }
}

function onLost({ code }: NodeJS.ErrnoException, isOutput: boolean): void {
  const isFirst = lost === undefined;
  lost ??= code === "EPIPE" ? brokenPipe : unwritten;
  // A closed reader needs no message; a full disk does.
  if (isFirst && lost === unwritten && isOutput) {
    process.stderr.write(`lathe: the output cannot be written (${code})\n`);
  }
  // Running work ends cleanly through its listener; without any, the process can exit at once.
  if (listeners.size === 0) process.exit(lost);
  for (const listener of listeners) listener(lost);
}

/** The exit code for output that could not be written; streams report that a moment later. */
export async function lostOutput(): Promise<number | undefined> {
  await new Promise((resolve) => setImmediate(resolve));
  return lost;
}
