/** Escapes: system calls that no command needs and that widen the attack surface. */
import { spawnSync } from "node:child_process";
import { hostname } from "node:os";
import { type EscapeProbe, told } from "../probe.ts";
import { syscalls } from "../script-parts.ts";

const surface = { group: "system-calls", isGrave: false, tools: ["python3"] } as const;

const allowed = told(/^ALLOWED.*/m);

/** Calls that fail with any error but "not permitted" have passed the check. */
function privileged(id: string, what: string, code: string): EscapeProbe {
  return {
    ...surface,
    id,
    what,
    isGrave: true,
    controlNeeds: ["root"],
    weakControl: "the kernel may be built without it",
    steps: () =>
      syscalls(`
def tell(name, got):
    print(name, got)
    if got not in ("EPERM", "ENOSYS", "EACCES"): print("ALLOWED", name, got)
${code}`),
    escaped: allowed,
  };
}

/** Calls that every user may make, and that return a descriptor. */
function opened(id: string, what: string, code: string): EscapeProbe {
  return {
    ...surface,
    id,
    what,
    steps: () =>
      syscalls(`
def tell(name, got):
    print(name, got)
    if isinstance(got, int): print("ALLOWED", name)
${code}`),
    escaped: allowed,
  };
}

/** The machine's name before a probe, by the tag of its ground. */
const names = new Map<string, string>();

const zeros = "ctypes.create_string_buffer(256)";

export const systemCalls: readonly EscapeProbe[] = [
  opened(
    "call-io-uring",
    "makes a ring for asynchronous calls",
    `tell("io_uring_setup", call("io_uring_setup", 4, ${zeros}))`,
  ),
  opened(
    "call-userfaultfd",
    "handles page faults itself",
    `tell("userfaultfd", call("userfaultfd", 1)); tell("userfaultfd", call("userfaultfd", 0))`,
  ),
  {
    ...opened(
      "call-bpf",
      "makes a map and loads a program for the kernel",
      `
import struct
tell("bpf", call("bpf", 0, ctypes.create_string_buffer(struct.pack("=5I", 2, 4, 8, 1, 0) + bytes(108)), 128))`,
    ),
    controlNeeds: ["root"],
  },
  opened(
    "call-perf",
    "measures with the kernel's performance counters",
    `
import struct
# A counter of the kernel's own (context switches), of this process only.
attributes = struct.pack("=IIQQQQQ", 1, 112, 3, 0, 0, 0, 0x61) + bytes(64)
tell("perf_event_open", call("perf_event_open", ctypes.create_string_buffer(attributes), 0, -1, -1, 0))`,
  ),
  opened(
    "call-keyring",
    "keeps a key in a keyring of its own session",
    `tell("keyctl", call("keyctl", 1, None)); tell("add_key", call("add_key", b"user", b"lathe-own", b"x", 1, -2))`,
  ),
  privileged(
    "call-reboot",
    "passes the check before a reboot (with a wrong magic number)",
    `tell("reboot", call("reboot", 1, 2, 3, 0))`,
  ),
  privileged(
    "call-kexec",
    "passes the check before loading another kernel",
    `tell("kexec_load", call("kexec_load", 0, 0, None, 0xffff))`,
  ),
  privileged(
    "call-module",
    "passes the check before loading a module",
    `tell("init_module", call("init_module", None, 0, b""))`,
  ),
  privileged(
    "call-swap",
    "passes the check before adding swap",
    `tell("swapon", call("swapon", b"/nonexistent", 0))`,
  ),
  privileged(
    "call-accounting",
    "passes the check before switching process accounting",
    `tell("acct", call("acct", b"/nonexistent"))`,
  ),
  privileged(
    "call-clock",
    "sets the time zone of the kernel's clock, to what it is",
    `
zone = ctypes.create_string_buffer(8); libc.gettimeofday(None, zone)
tell("settimeofday", call("settimeofday", None, zone))`,
  ),
  {
    ...privileged(
      "call-ports",
      "asks for the machine's I/O ports",
      `tell("iopl", call("iopl", 0)); tell("iopl", call("iopl", 3))`,
    ),
    needs: ["x64"],
    // Every process has level 0; asking for it is allowed.
    escaped: ({ output }) =>
      /^ALLOWED iopl 0$/m.test(output.split("\n").slice(2).join("\n")) ? "iopl 3 is allowed" : undefined,
  },
  {
    ...surface,
    id: "call-hostname",
    what: "changes the machine's name",
    isGrave: true,
    noControl: "it would rename the machine",
    steps: () => syscalls(`print(call("sethostname", b"lathe-probe", 11))`),
    setup: ({ tag }) => {
      names.set(tag, hostname());
    },
    escaped: ({ ground }) =>
      hostname() === names.get(ground.tag) ? undefined : "the machine has another name",
    restore: ({ tag }) => {
      const name = names.get(tag);
      if (name !== undefined && name !== hostname()) spawnSync("hostname", [name]);
      names.delete(tag);
    },
  },
  {
    ...surface,
    id: "call-32-bit",
    what: "makes calls the 32-bit way, which a filter may not look at",
    needs: ["x64"],
    steps: () =>
      syscalls(`
import mmap
def call32(number, b=0, c=0):
    # push rbx; mov eax, number; mov ebx, b; mov ecx, c; int 0x80; pop rbx; ret
    code = b"\\x53\\xb8" + number.to_bytes(4, "little") + b"\\xbb" + (b & 0xffffffff).to_bytes(4, "little") + b"\\xb9" + (c & 0xffffffff).to_bytes(4, "little") + b"\\xcd\\x80\\x5b\\xc3"
    page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC); page.write(code)
    at = ctypes.addressof(ctypes.c_char.from_buffer(page))
    return ctypes.CFUNCTYPE(ctypes.c_int)(at)()
pid = os.fork()
if pid == 0:
    print("getpid", call32(20) == os.getpid(), flush=True)
    for name, number, b in (("unshare", 310, 0x10000000), ("userfaultfd", 374, 1), ("add_key", 286, 0)):
        got = call32(number, b); print(name, got, flush=True)
        # -14: a bad address was looked at, -22: a bad value; both behind the filter.
        if got >= 0 or got in (-14, -22): print("ALLOWED", name, flush=True)
    os._exit(0)
print("ended with", os.waitpid(pid, 0)[1])`),
    escaped: allowed,
  },
  {
    ...surface,
    id: "call-x32",
    what: "makes calls by their x32 numbers, which a filter may not look at",
    needs: ["x64"],
    weakControl: "most kernels are built without them",
    steps: () =>
      syscalls(`
pid = os.fork()
if pid == 0:
    for name in ("unshare", "userfaultfd"):
        got = call(0x40000000 | NR[name], 0x10000000 if name == "unshare" else 1); print(name, got, flush=True)
        if isinstance(got, int): print("ALLOWED", name, flush=True)
    os._exit(0)
print("ended with", os.waitpid(pid, 0)[1])`),
    escaped: allowed,
  },
];
