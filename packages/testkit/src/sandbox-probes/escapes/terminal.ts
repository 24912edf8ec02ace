/** Escapes: the user's own terminal. */
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { EscapeProbe } from "../probe.ts";
import { python } from "../script-parts.ts";

const grave = { group: "terminal", isGrave: true, needs: ["terminal"] } as const;

const typed: EscapeProbe["escaped"] = async ({ output, ground }) => {
  // Written text passes through the terminal's other end into the file.
  await sleep(200);
  const shown = readFileSync(ground.inheritance?.terminalLog ?? "/dev/null", "utf8");
  if (shown.includes(`typed${ground.tag}`)) return "it wrote to the user's terminal";
  return /^TYPED.*/m.exec(output)?.[0];
};

export const terminal: readonly EscapeProbe[] = [
  {
    ...grave,
    id: "terminal-write",
    what: "writes to the terminal of the harness",
    steps: ({ tag }) => `echo typed${tag} > /dev/tty; true`,
    escaped: typed,
  },
  {
    ...grave,
    id: "terminal-all",
    what: "writes to every terminal it finds",
    controlNeeds: ["root"],
    steps: ({ tag, harnessPid }) =>
      `t=$(tr -s ' ' < /proc/${harnessPid}/stat | cut -d' ' -f7); for p in /proc/${harnessPid}/fd/* /dev/pts/$((t & 255)); do test -c $p && echo typed${tag} > $p; done; true`,
    escaped: typed,
  },
  {
    ...grave,
    id: "terminal-push",
    what: "pushes characters into the terminal's input",
    tools: ["python3"],
    controlNeeds: ["root"],
    steps: python(`
import fcntl, os
for name in ("/dev/tty", "/dev/stdin"):
    try:
        with open(name, "rb+", buffering=0) as t:
            # A line end would let the reader see it: one letter is enough to tell.
            fcntl.ioctl(t, 0x5412, b"x"); print("TYPED by", name)
    except OSError as e: print(name, e)
for fd in (0, 1, 2):
    try: fcntl.ioctl(fd, 0x5412, b"x"); print("TYPED by descriptor", fd)
    except OSError as e: print(fd, e)`),
    escaped: typed,
  },
];
