/** Shared by the stress tests: another process that keeps swapping a folder with a link. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { lstatSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { exactTree } from "@lathe/testkit";

/** Minimum swaps for each kind of work; more find more: LATHE_SWAPS=50000. */
export const leastSwaps: number = Number(process.env.LATHE_SWAPS ?? 1_000);

/** `renameat2` with `RENAME_EXCHANGE`, so that `d` always exists. Ends when its input is closed. */
const exchanging = `
import ctypes, os, random, select, sys, time
os.chdir(sys.argv[1])
libc = ctypes.CDLL(None, use_errno=True)
print("ready", flush=True)
count = 0
while count % 50 or not select.select([sys.stdin], [], [], 0)[0]:
    # A restore may have removed the one or the other.
    if libc.renameat2(-100, b"d", -100, b"link", 2) != 0 and not os.path.lexists("link") and not os.path.islink("d"):
        os.symlink(sys.argv[2], "link")
    count += 1
    if count % 50 == 0: print(count, flush=True)
    # Mostly it is a folder: else hardly anything would get so far that a swap could do harm.
    if random.random() < (0.05 if os.path.islink("d") else 0.6): time.sleep(random.random() * 0.0008)
if os.path.islink("d"): libc.renameat2(-100, b"d", -100, b"link", 2)
print(count)
`;

export interface SwappingPlace {
  readonly folder: string;
  readonly root: string;
  readonly outside: string;
  /** Why the test is impossible here. */
  readonly missing: string | undefined;
  /** Swaps while the work runs, which may read the count; returns the total. */
  readonly during: (work: (swaps: () => number) => Promise<void>) => Promise<number>;
  /** Everything that the link leads to, with times of change. */
  readonly outsideNow: () => unknown;
  readonly remove: () => void;
}

/**
 * A root with the folder `d`, and a folder outside with the same names, whose contents say where they are
 * from.
 */
export function swappingPlace(files: readonly string[]): SwappingPlace {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "lathe-swapping-")));
  const [root, outside] = [join(folder, "root"), join(folder, "outside")];
  for (const [place, text] of [
    [join(root, "d"), "inside"],
    [outside, "outside"],
  ] as const) {
    mkdirSync(join(place, "sub"), { recursive: true });
    for (const name of files) writeFileSync(join(place, name), text);
  }
  writeFileSync(join(outside, "outside-name"), "outside");
  symlinkSync(outside, join(root, "link"));
  return {
    folder,
    root,
    outside,
    missing: whyNot(),
    during: (work) => swapDuring([root, outside], work),
    outsideNow: () => [
      exactTree(outside),
      lstatSync(outside).mtimeMs,
      lstatSync(join(outside, "sub")).mtimeMs,
    ],
    remove: () => rmSync(folder, { recursive: true }),
  };
}

function whyNot(): string | undefined {
  if (process.platform !== "linux") return "only Linux exchanges two names at once";
  const asked = spawnSync("python3", ["-c", "import ctypes; ctypes.CDLL(None).renameat2"]);
  return asked.status === 0 ? undefined : "there is no python3 with renameat2 here";
}

async function swapDuring(
  folders: readonly string[],
  work: (swaps: () => number) => Promise<void>,
): Promise<number> {
  const child = spawn("python3", ["-c", exchanging, ...folders], { stdio: ["pipe", "pipe", "inherit"] });
  try {
    let count = 0;
    const lines = createInterface({ input: child.stdout });
    const isReady = once(lines, "line");
    lines.on("line", (line) => {
      count = Number(line) || 0;
    });
    await isReady;
    await work(() => count);
    child.stdin.end();
    await ended(child);
    return count;
  } finally {
    child.kill("SIGKILL");
  }
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode === null) await once(child, "close");
}
