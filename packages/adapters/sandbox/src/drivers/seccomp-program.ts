/** The system calls denied to commands, as a program for bubblewrap; follows the rules of native/filter.c. */
import { constants } from "node:os";

type Architecture = "x64" | "arm64";

/** Numbers on x64 and on arm64; null if the call does not exist there. */
type Call = readonly [name: string, x64: number, arm64: number | null];

const { EPERM, ENOSYS, EAFNOSUPPORT } = constants.errno;

/**
 * Their arguments are in memory, where the filter cannot check them, or they are risky; programs fall back.
 */
const missing: readonly Call[] = [
  ["clone3", 435, 435],
  ["openat2", 437, 437],
  ["keyctl", 250, 219],
  ["add_key", 248, 217],
  ["request_key", 249, 218],
  ["userfaultfd", 323, 282],
  ["io_uring_setup", 425, 425],
  ["io_uring_enter", 426, 426],
  ["io_uring_register", 427, 427],
];

/** Mounts, namespaces, handles, and the machine itself. */
const refused: readonly Call[] = [
  ["setns", 308, 268],
  ["mount", 165, 40],
  ["umount2", 166, 39],
  ["pivot_root", 155, 41],
  ["chroot", 161, 51],
  ["open_tree", 428, 428],
  ["move_mount", 429, 429],
  ["fsopen", 430, 430],
  ["fsconfig", 431, 431],
  ["fsmount", 432, 432],
  ["fspick", 433, 433],
  ["mount_setattr", 442, 442],
  ["open_tree_attr", 467, 467],
  ["swapon", 167, 224],
  ["swapoff", 168, 225],
  ["quotactl", 179, 60],
  ["quotactl_fd", 443, 443],
  ["open_by_handle_at", 304, 265],
  ["name_to_handle_at", 303, 264],
  ["bpf", 321, 280],
  ["perf_event_open", 298, 241],
  ["kexec_load", 246, 104],
  ["kexec_file_load", 320, 294],
  ["init_module", 175, 105],
  ["finit_module", 313, 273],
  ["delete_module", 176, 106],
  ["reboot", 169, 142],
  ["acct", 163, 89],
  ["syslog", 103, 116],
  ["settimeofday", 164, 170],
  ["clock_settime", 227, 112],
  ["sethostname", 170, 161],
  ["setdomainname", 171, 162],
  ["vhangup", 153, 58],
  ["iopl", 172, null],
  ["ioperm", 173, null],
  ["modify_ldt", 154, null],
  ["uselib", 134, null],
];

const namespaces = 0x7e02_0000;
const timeNamespace = 0x80;
/** Set-uid and set-gid. */
const special = 0o6000;
/** O_CREAT, and the bit specific to O_TMPFILE. */
const making = 0o100 | 0o20_000_000;

/** Refused if an argument has one of the bits. */
const withBits: readonly (readonly [...Call, argument: number, bits: number])[] = [
  ["clone", 56, 220, 0, namespaces],
  ["unshare", 272, 97, 0, namespaces | timeNamespace],
  ["chmod", 90, null, 1, special],
  ["creat", 85, null, 1, special],
  ["mknod", 133, null, 1, special],
  ["fchmod", 91, 52, 1, special],
  ["fchmodat", 268, 53, 2, special],
  ["fchmodat2", 452, 452, 2, special],
  ["mknodat", 259, 33, 2, special],
];

/** The mode counts only if a file is made; it follows the flags. */
const opening: readonly (readonly [...Call, flags: number])[] = [
  ["open", 2, null, 1],
  ["openat", 257, 56, 2],
];

const ioctl: Call = ["ioctl", 16, 29];
const sockets: readonly Call[] = [
  ["socket", 41, 198],
  ["socketpair", 53, 199],
];
/** TIOCSTI types into a terminal; the others are the console's and load kernel modules. */
const terminalRequests = [0x5412, 0x541c, 0x5423];
/** Unix and internet; of netlink only the part that lists the machine's addresses. */
const [unix, inet, inet6, netlink] = [1, 2, 10, 16];

const audit: Readonly<Record<Architecture, number>> = { x64: 0xc000_003e, arm64: 0xc000_00b7 };
/** Numbers from here on belong to x32, which shares the architecture's name. */
const x32 = 0x4000_0000;

/** One instruction: code, jump targets for true and false, and a constant. */
type Step = readonly [code: number, then: number, otherwise: number, constant: number];

const [loadWord, jumpEqual, jumpAtLeast, jumpBits, end] = [0x20, 0x15, 0x35, 0x45, 0x06];
const allow: Step = [end, 0, 0, 0x7fff_0000];
const refuse = (error: number): Step => [end, 0, 0, (0x0005_0000 | error) >>> 0];
const load = (at: number): Step => [loadWord, 0, 0, at];
/** The low half of an argument: both architectures are little-endian. */
const argument = (n: number): Step => load(16 + 8 * n);

/** For `bwrap --seccomp`; undefined for unknown architectures. */
export function seccompProgram(architecture: string): Buffer | undefined {
  if (architecture !== "x64" && architecture !== "arm64") return undefined;
  const number = ([, x64, arm64]: readonly [string, number, number | null, ...unknown[]]): number | null =>
    architecture === "x64" ? x64 : arm64;
  const rules: readonly (readonly [number | null, readonly Step[]])[] = [
    ...missing.map((call) => [number(call), [refuse(ENOSYS)]] as const),
    ...refused.map((call) => [number(call), [refuse(EPERM)]] as const),
    ...withBits.map((call) => [number(call), notWith(call[3], call[4])] as const),
    ...opening.map((call) => [number(call), openingWithout(call[3])] as const),
    [number(ioctl), ioctlWithout(terminalRequests)],
    ...sockets.map((call) => [number(call), usualSockets] as const),
  ];
  const steps: readonly Step[] = [
    load(4),
    [jumpEqual, 1, 0, audit[architecture]],
    refuse(ENOSYS),
    load(0),
    ...(architecture === "x64" ? ([[jumpAtLeast, 0, 1, x32], refuse(ENOSYS)] as const) : []),
    ...rules.flatMap(([call, body]): readonly Step[] =>
      call === null ? [] : [[jumpEqual, 0, body.length, call], ...body],
    ),
    allow,
  ];
  return Buffer.concat(steps.map(bytesOf));
}

function notWith(at: number, bits: number): readonly Step[] {
  return [argument(at), [jumpBits, 0, 1, bits], refuse(EPERM), allow];
}

function openingWithout(flags: number): readonly Step[] {
  return [
    argument(flags),
    [jumpBits, 0, 3, making],
    argument(flags + 1),
    [jumpBits, 0, 1, special],
    refuse(EPERM),
    allow,
  ];
}

function ioctlWithout(requests: readonly number[]): readonly Step[] {
  const jumps = requests.map((request, at): Step => [jumpEqual, requests.length - at, 0, request]);
  return [argument(1), ...jumps, allow, refuse(EPERM)];
}

const usualSockets: readonly Step[] = [
  argument(0),
  [jumpEqual, 5, 0, unix],
  [jumpEqual, 4, 0, inet],
  [jumpEqual, 3, 0, inet6],
  [jumpEqual, 0, 3, netlink],
  argument(2),
  [jumpEqual, 0, 1, 0],
  allow,
  refuse(EAFNOSUPPORT),
];

function bytesOf([code, then, otherwise, constant]: Step): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt16LE(code, 0);
  bytes.writeUInt8(then, 2);
  bytes.writeUInt8(otherwise, 3);
  bytes.writeUInt32LE(constant >>> 0, 4);
  return bytes;
}
