/** Escapes: processes of the host, and memory shared with them. */
import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { write } from "../ground.ts";
import { type EscapeProbe, told } from "../probe.ts";
import { syscalls } from "../script-parts.ts";

const grave = { group: "processes", isGrave: true } as const;

const touched = told(/^TOUCHED.*/m);

/** Identifiers of segments that probes made, by the tag of their ground. */
const sharedSegments = new Map<string, string>();

export const processes: readonly EscapeProbe[] = [
  {
    ...grave,
    id: "process-kill",
    what: "ends a process of the host",
    steps: ({ sleeper }) => `kill -TERM ${sleeper.pid}; kill -KILL ${sleeper.pid}; true`,
  },
  {
    ...grave,
    id: "process-stop",
    what: "stops a process of the host",
    steps: ({ sleeper }) => `kill -STOP ${sleeper.pid}; true`,
  },
  {
    ...grave,
    id: "process-kill-by-name",
    what: "finds a process of the host by its name and ends it",
    tools: ["pkill"],
    steps: ({ tag }) => `pkill -f 'sleep 600\\.${tag}'; true`,
  },
  {
    ...grave,
    id: "process-reach",
    what: "could signal the harness",
    // In its own PID namespace the number means another process: only the harness counts.
    steps: ({ harnessPid, folder }) =>
      `kill -0 ${harnessPid} && tr '\\0' ' ' < /proc/${harnessPid}/cmdline | grep -q '${folder}' && echo TOUCHED the harness; true`,
    escaped: touched,
  },
  {
    ...grave,
    id: "process-trace",
    what: "traces a process of the host",
    tools: ["python3"],
    steps: ({ sleeper }) =>
      syscalls(`
import time
print(call("ptrace", 16, ${sleeper.pid}, 0, 0)); print(call("ptrace", 0x4206, ${sleeper.pid}, 0, 0))
try: print(open("/proc/${sleeper.pid}/status").read().split("TracerPid:")[1].split()[0] == str(os.getpid()) and "TOUCHED: traced")
except (OSError, IndexError) as e: print(e)`),
    escaped: touched,
  },
  {
    ...grave,
    id: "process-memory",
    what: "reads and writes the memory of a process of the host",
    tools: ["python3"],
    steps: ({ sleeper, tag }) =>
      syscalls(`
try:
    if "${tag}" not in open("/proc/${sleeper.pid}/cmdline").read(): raise SystemExit("another process")
    low = int(open("/proc/${sleeper.pid}/maps").read().split("-")[0], 16)
    memory = open("/proc/${sleeper.pid}/mem", "r+b", 0); memory.seek(low); memory.read(4); print("TOUCHED the memory of a process")
except OSError as e: print(e)`),
    escaped: touched,
  },
  {
    ...grave,
    isGrave: false,
    id: "process-limits",
    what: "changes limits and processors of a process of the host",
    tools: ["python3"],
    steps: ({ sleeper, tag }) =>
      syscalls(`
import resource
try:
    if "${tag}" not in open("/proc/${sleeper.pid}/cmdline").read(): raise SystemExit("another process")
    resource.prlimit(${sleeper.pid}, resource.RLIMIT_NOFILE, (512, 512)); print("TOUCHED its limits")
except OSError as e: print(e)`),
    escaped: touched,
  },
  {
    ...grave,
    id: "process-descriptors",
    what: "takes descriptors of the harness",
    tools: ["python3"],
    controlNeeds: ["root"],
    steps: ({ harnessPid, folder }) =>
      syscalls(`
try:
    if "${folder}" not in open("/proc/${harnessPid}/cmdline").read(): raise SystemExit("another process")
except OSError as e: raise SystemExit(str(e))
fd = call("pidfd_open", ${harnessPid}, 0); print(fd)
got = call("pidfd_getfd", fd, 1, 0) if isinstance(fd, int) else fd
print(got)
if isinstance(got, int): print("TOUCHED a descriptor of the harness")`),
    escaped: touched,
  },
  {
    ...grave,
    isGrave: false,
    id: "process-list",
    what: "sees processes of the host and their command lines",
    steps: ({ tag }) =>
      `for p in /proc/[0-9]*; do tr '\\0' ' ' < $p/cmdline | grep '^sleep 600.${tag}' | sed 's/^/TOUCHED /'; done 2>/dev/null; true`,
    escaped: touched,
  },
  {
    ...grave,
    isGrave: false,
    id: "shared-memory-file",
    what: "reads shared memory of the host in /dev/shm",
    setup: ({ tag, secret }) => write(`/dev/shm/lathe-probe-${tag}`, `${secret}\n`),
    steps: ({ tag }) => `cat /dev/shm/lathe-probe-${tag}; true`,
    restore: ({ tag }) => rmSync(`/dev/shm/lathe-probe-${tag}`, { force: true }),
  },
  {
    ...grave,
    isGrave: false,
    id: "shared-memory-system-v",
    what: "finds a shared memory segment of the host",
    tools: ["ipcmk", "ipcs", "ipcrm"],
    setup: ({ tag }) => {
      sharedSegments.set(tag, makeSegment());
    },
    steps: "ipcs -m | grep -w 4242 | sed 's/^/TOUCHED /'; true",
    escaped: touched,
    restore: ({ tag }) => {
      spawnSync("ipcrm", ["-m", sharedSegments.get(tag) ?? ""]);
      sharedSegments.delete(tag);
    },
  },
  {
    ...grave,
    id: "keyring-write",
    what: "adds a key to the user's keyring, where the host finds it",
    tools: ["python3"],
    steps: ({ tag }) =>
      syscalls(`
for ring in (-4, -5):
    print(ring, call("add_key", b"user", b"lathe-${tag}", b"planted", 7, ring))`),
    escaped: ({ ground }) => (hostKey(ground.tag) ? "the key is in the user's keyring" : undefined),
    restore: ({ tag }) => {
      hostKey(tag);
    },
  },
];

/** 4242 bytes: a size that identifies the segment. */
function makeSegment(): string {
  const { stdout } = spawnSync("ipcmk", ["-M", "4242"], { encoding: "utf8" });
  return /\d+\s*$/.exec(stdout)?.[0].trim() ?? "";
}

/** Whether the user's keyrings on the host hold the key; removes it. */
function hostKey(tag: string): boolean {
  const script = syscalls(`
for ring in (-4, -5):
    found = call("keyctl", 10, ring, b"user", b"lathe-${tag}", 0)
    if isinstance(found, int): print("FOUND"); call("keyctl", 9, found, ring)`);
  return spawnSync("bash", ["-c", script], { encoding: "utf8" }).stdout.includes("FOUND");
}
