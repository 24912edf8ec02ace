/** Pieces of probe scripts: Python in bash, system calls without a command, and a safety stop. */
import type { Ground } from "./ground.ts";

/** A here-document: the shell expands nothing in it. */
export function python(code: string): string {
  return `python3 - <<'PYTHON_END'\n${code}\nPYTHON_END\n`;
}

/**
 * Ends a script that would otherwise change the machine's own mounts, because it is in no other namespace.
 */
export function notOnTheHost({ hostMountNamespace }: Ground): string {
  return `test "$(readlink /proc/self/ns/mnt)" = "${hostMountNamespace}" && { echo IN-HOST-MOUNTS; exit 0; }\n`;
}

/** System call numbers on x86-64; those from 424 on are the same everywhere. */
const x64 = {
  ioctl: 16,
  ptrace: 101,
  capset: 126,
  pivot_root: 155,
  settimeofday: 164,
  swapon: 167,
  reboot: 169,
  sethostname: 170,
  iopl: 172,
  init_module: 175,
  acct: 163,
  add_key: 248,
  request_key: 249,
  keyctl: 250,
  unshare: 272,
  mount: 165,
  kexec_load: 246,
  perf_event_open: 298,
  name_to_handle_at: 303,
  open_by_handle_at: 304,
  setns: 308,
  process_vm_readv: 310,
  bpf: 321,
  userfaultfd: 323,
} as const;

const arm64: Readonly<Record<keyof typeof x64, number>> = {
  ioctl: 29,
  ptrace: 117,
  capset: 91,
  pivot_root: 41,
  settimeofday: 170,
  swapon: 224,
  reboot: 142,
  sethostname: 161,
  iopl: -1,
  init_module: 105,
  acct: 89,
  add_key: 217,
  request_key: 218,
  keyctl: 219,
  unshare: 97,
  mount: 40,
  kexec_load: 104,
  perf_event_open: 241,
  name_to_handle_at: 264,
  open_by_handle_at: 265,
  setns: 268,
  process_vm_readv: 270,
  bpf: 280,
  userfaultfd: 282,
};

const everywhere = {
  pidfd_open: 434,
  pidfd_getfd: 438,
  open_tree: 428,
  fsopen: 430,
  io_uring_setup: 425,
} as const;

/** Python in which `call(NAME, ...)` makes a system call and returns its value, or the name of the error. */
export function syscalls(code: string): string {
  const numbers = { ...(process.arch === "arm64" ? arm64 : x64), ...everywhere };
  return python(`import ctypes, errno, os, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
NR = ${JSON.stringify(numbers)}
def call(name, *args):
    number = NR[name] if isinstance(name, str) else name
    done = libc.syscall(ctypes.c_long(number), *[ctypes.c_long(a) if isinstance(a, int) else a for a in args])
    return done if done >= 0 else errno.errorcode.get(ctypes.get_errno(), "?")
${code}`);
}
