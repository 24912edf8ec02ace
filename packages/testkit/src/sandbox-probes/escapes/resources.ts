/** Escapes: using so much of the machine that others suffer. Each stops at a size the machine survives. */
import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { isFailure } from "@lathe/protocol";
import { type EscapeProbe, told } from "../probe.ts";
import { python } from "../script-parts.ts";

const greedy = { group: "resources", isGrave: false } as const;
const gigabyte = 1024 ** 3;

/** Bytes on the disk below the folder. */
function diskUse(folder: string): number {
  return readdirSync(folder, { withFileTypes: true }).reduce((sum, entry) => {
    const path = join(folder, entry.name);
    return sum + (entry.isDirectory() ? diskUse(path) : lstatSync(path).blocks * 512);
  }, 0);
}

function sizeOf(path: string): number {
  try {
    return lstatSync(path).size;
  } catch {
    return 0;
  }
}

const reached = told(/^REACHED.*/m);

export const resources: readonly EscapeProbe[] = [
  {
    ...greedy,
    id: "resource-processes",
    what: "starts 5,000 processes that stay",
    tools: ["perl"],
    steps: () =>
      'perl -e \'for (1..5000) { my $p = fork(); if (!defined $p) { print "stopped at $_\\n"; kill 9, @p; exit } if (!$p) { sleep 60; exit } push @p, $p } print "REACHED 5000 processes\\n"; kill 9, @p; wait for @p\'; true',
    escaped: reached,
  },
  {
    ...greedy,
    id: "resource-memory",
    what: "takes 6 GB of memory",
    tools: ["python3"],
    steps: python(`
import mmap
held = []
for i in range(24):
    # MAP_PRIVATE, MAP_ANONYMOUS, MAP_POPULATE: the pages are there when it returns.
    held.append(mmap.mmap(-1, 256 << 20, flags=0x8022)); print((i + 1) / 4, "GB", flush=True)
print("REACHED 6 GB of memory")`),
    escaped: reached,
  },
  {
    ...greedy,
    id: "resource-memory-many",
    what: "takes 6 GB of memory in many processes",
    tools: ["python3"],
    steps: python(`
import mmap, os, signal
children, alive = [], 0
for i in range(12):
    ready, tell = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(ready); part = mmap.mmap(-1, 512 << 20, flags=0x8022)
        os.write(tell, b"x"); signal.pause()
    os.close(tell); children.append(pid)
    if os.read(ready, 1) == b"x": alive += 1
alive = sum(os.waitpid(pid, os.WNOHANG) == (0, 0) for pid in children)
print("REACHED 6 GB in processes" if alive == 12 else f"{alive} of 12 held 512 MB", flush=True)
for pid in children:
    try: os.kill(pid, 9)
    except OSError: pass`),
    escaped: reached,
  },
  {
    ...greedy,
    id: "resource-file",
    what: "makes a file of 20 GB, with holes and with its blocks",
    steps: "truncate -s 20G sparse; fallocate -l 20G full; ls -ls; true",
    escaped: ({ ground }) => {
      const names = ["sparse", "full"].filter(
        (name) => sizeOf(join(ground.workspace, name)) >= 20 * gigabyte,
      );
      return names.length > 0 ? `20 GB: ${names.join(", ")}` : undefined;
    },
  },
  {
    ...greedy,
    id: "resource-shared-memory",
    what: "fills /dev/shm with 6 GB",
    steps: ({ tag }) =>
      `for i in 1 2 3 4 5 6; do fallocate -l 1G /dev/shm/lathe-fill-${tag}-$i || break; done; n=$(stat -c '%b * 512' /dev/shm/lathe-fill-${tag}-* 2>/dev/null | paste -sd+); rm -f /dev/shm/lathe-fill-${tag}-*; test $((n)) -ge 6442450944 && echo REACHED 6 GB in /dev/shm; true`,
    escaped: reached,
  },
  {
    ...greedy,
    id: "resource-output",
    what: "writes 2 GB of output",
    steps: () => [{ script: "head -c 2000000000 /dev/zero", timeoutMs: 60_000 }],
    escaped: ({ ground, results }) => {
      const [result] = results;
      if (result === undefined || isFailure(result)) return undefined;
      if (result.output.length > 20_000_000) return `${result.output.length} characters of output were kept`;
      return diskUse(ground.folder) > gigabyte ? "more than 1 GB of output is on the disk" : undefined;
    },
  },
  {
    ...greedy,
    id: "resource-locked-memory",
    what: "locks 1 GB of memory so that it cannot be swapped",
    tools: ["python3"],
    controlNeeds: ["root"],
    steps: python(`
import ctypes, mmap
libc = ctypes.CDLL(None, use_errno=True); part = mmap.mmap(-1, 1 << 30)
print("REACHED 1 GB locked" if libc.mlock(ctypes.c_void_p(ctypes.addressof(ctypes.c_char.from_buffer(part))), ctypes.c_size_t(1 << 30)) == 0 else ctypes.get_errno())`),
    escaped: reached,
  },
];
