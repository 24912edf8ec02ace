/** What happens when the reader of our output goes away: we end, as other commands do, without a word. */

/** The shell's code for a process that SIGPIPE ended. */
const sigpipe = 141;

export function handleBrokenPipe(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EPIPE") process.exit(sigpipe);
      throw error;
    });
  }
}
