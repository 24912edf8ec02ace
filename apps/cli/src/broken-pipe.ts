/** What happens when our output can no longer be written: the work is interrupted. */

/** The shell's code for a process that SIGPIPE ended. */
export const brokenPipe = 141;

const listeners = new Set<() => void>();

/** Only of our own output: the signal comes for every pipe that breaks, a child's input too. Returns how to stop. */
export function onBrokenPipe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function handleBrokenPipe(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      // A reader that went away knows; a disk that is full does not.
      if (error.code !== "EPIPE" && stream === process.stdout) {
        process.stderr.write(`lathe: the output cannot be written (${error.code})\n`);
      }
      // Whoever is at work listens and ends in order; with nobody at work there is nothing to end.
      if (listeners.size === 0) process.exit(brokenPipe);
      for (const listener of listeners) listener();
    });
  }
}
