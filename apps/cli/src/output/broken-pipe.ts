/** What happens when our output can no longer be written: the work is interrupted, and the exit code says so. */

/** The shell's code for a process that SIGPIPE ended. */
const brokenPipe = 141;
/** Of a disk that is full, and whatever else can be wrong with a file. */
const unwritten = 1;

type Listener = (code: number) => void;

const listeners = new Set<Listener>();
let lost: number | undefined;

/** Only of our own output: the signal comes for every pipe that breaks, a child's input too. Returns how to stop. */
export function onBrokenPipe(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

let isHandled = false;

/** *Contract:* may be called by every run of a command in this process; the streams are the process's and are watched once. */
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
  // A reader that went away knows; a disk that is full does not.
  if (isFirst && lost === unwritten && isOutput) {
    process.stderr.write(`lathe: the output cannot be written (${code})\n`);
  }
  // Whoever is at work listens and ends in order; with nobody at work there is nothing to end.
  if (listeners.size === 0) process.exit(lost);
  for (const listener of listeners) listener(lost);
}

/** The exit code of what was said and could not be written, of which streams tell a moment later. */
export async function lostOutput(): Promise<number | undefined> {
  await new Promise((resolve) => setImmediate(resolve));
  return lost;
}
