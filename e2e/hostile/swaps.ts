/** Swaps a folder of the workspace for a link to the outside folder, again and again, while a tool works. */
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import type { HostilePlace } from "./hostile-place.ts";

/** The minimum of swaps during each tool's calls; LATHE_SWAPS=50000 tries more. */
export const leastSwaps: number = Number(process.env.LATHE_SWAPS ?? 1000);
/** The minimum of calls of one tool. */
export const leastCalls: number = Math.ceil(leastSwaps / 50);

/** The pauses vary, so that no tool stays in step with them. */
const loop = `
import ctypes, sys, time
exchange = ctypes.CDLL(None).renameat2
one, other = (word.encode() for word in sys.argv[1:3])
count = 0
while True:
    if exchange(-100, one, -100, other, 2) != 0: sys.exit("renameat2 cannot exchange here")
    count += 1
    if count % 50 == 0: print(count, flush=True)
    time.sleep((count * 7 % 11) * 0.00007)
`;

/** The reason why folders cannot be swapped here; false if they can. */
export function noSwaps(): string | false {
  const tried = spawnSync("python3", ["-c", "import ctypes; ctypes.CDLL(None).renameat2"]);
  return tried.status === 0 ? false : "needs python3 and renameat2";
}

export interface Swaps {
  count(): number;
  /** *Contract:* resolves after so many swaps. */
  until(count: number): Promise<void>;
  stop(): Promise<void>;
}

/** *Contract:* `folder` must exist; the caller stops the swaps. */
export function startSwaps(at: HostilePlace, folder: string): Swaps {
  const link = join(at.workspace, "zz/link");
  mkdirSync(dirname(link), { recursive: true });
  symlinkSync(at.outside, link);
  const child = spawn("python3", ["-c", loop, join(at.workspace, folder), link], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let count = 0;
  const waiting = new Set<() => void>();
  const tell = (): void => {
    for (const one of waiting) one();
  };
  createInterface({ input: child.stdout }).on("line", (line) => {
    count = Number(line);
    tell();
  });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  let isEnded = false;
  void ended.then(() => {
    isEnded = true;
    tell();
  });
  return {
    count: () => count,
    until: (least) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (count < least && !isEnded) return;
          waiting.delete(look);
          if (count < least) reject(new Error("the exchanging process has ended"));
          else resolve();
        };
        waiting.add(look);
        look();
      }),
    stop: async () => {
      child.kill("SIGKILL");
      await ended;
    },
  };
}
