/** Escapes: the kernel's settings and devices as files. */
import { type EscapeProbe, told } from "../probe.ts";
import { python } from "../script-parts.ts";

const grave = { group: "kernel", isGrave: true, tools: ["python3"], controlNeeds: ["root"] } as const;
const lacking = { weakControl: "the kernel may be built without it" } as const;

const open = told(/^OPEN .*/m);

/** Opens for writing without writing: that alone shows whether a setting could be changed. */
const opensForWriting = (patterns: readonly string[], except = "^$"): string =>
  python(`
import glob, os, re
seen = 0
for pattern in ${JSON.stringify(patterns)}:
    for path in sorted(glob.glob(pattern, recursive=True)):
        if re.search(r"${except}", path) or os.path.isdir(path): continue
        try: os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK)); print("OPEN for writing:", path); seen += 1
        except OSError as e:
            if len(${JSON.stringify(patterns)}) < 5: print(e)
        if seen > 3: raise SystemExit`);

const writesTo = (id: string, what: string, paths: readonly string[]): EscapeProbe => ({
  ...grave,
  id,
  what: `could write ${what}`,
  steps: opensForWriting(paths),
  escaped: open,
});

export const kernelFiles: readonly EscapeProbe[] = [
  {
    ...grave,
    id: "kernel-core-pattern",
    what: "writes the core pattern (the same value, should it work)",
    tools: [],
    steps:
      "p=/proc/sys/kernel/core_pattern; v=$(cat $p); printf '%s' \"$v\" > $p && echo OPEN core_pattern; ulimit -c unlimited; true",
    escaped: open,
  },
  {
    ...writesTo("kernel-modprobe", "the path of the module loader", [
      "/proc/sys/kernel/modprobe",
      "/proc/sys/kernel/hotplug",
    ]),
    ...lacking,
  },
  {
    ...writesTo("kernel-uevent", "the program for device events", [
      "/sys/kernel/uevent_helper",
      "/sys/devices/virtual/mem/null/uevent",
    ]),
    ...lacking,
  },
  {
    ...writesTo("kernel-binfmt", "the table of program formats", [
      "/proc/sys/fs/binfmt_misc/register",
      "/proc/sys/fs/binfmt_misc/status",
    ]),
    ...lacking,
  },
  { ...writesTo("kernel-sysrq", "the trigger of emergency keys", ["/proc/sysrq-trigger"]), ...lacking },
  {
    ...writesTo("kernel-power", "the machine's power state", [
      "/sys/power/state",
      "/sys/power/disk",
      "/proc/acpi/*",
    ]),
    ...lacking,
  },
  {
    ...grave,
    id: "kernel-proc-sys",
    what: "could write any setting below /proc/sys but those that each namespace has for itself",
    steps: opensForWriting(
      ["/proc/sys/**"],
      "^/proc/sys/(net|user|fs/mqueue)/|^/proc/sys/kernel/(shm|msg|sem|auto_msgmni|hostname|domainname|ns_last_pid|pid_max)",
    ),
    escaped: open,
  },
  {
    ...grave,
    id: "kernel-proc-other",
    what: "could write other files of the kernel in /proc",
    steps: opensForWriting([
      "/proc/irq/**",
      "/proc/mtrr",
      "/proc/scsi/**",
      "/proc/bus/**",
      "/proc/timer_list",
    ]),
    escaped: open,
  },
  {
    ...grave,
    id: "kernel-sys",
    what: "could write anything below /sys",
    steps: opensForWriting(
      [
        "/sys/kernel/**",
        "/sys/module/*/parameters/*",
        "/sys/block/*/queue/*",
        "/sys/fs/**",
        "/sys/bus/*/*",
        "/sys/power/*",
      ],
      "cgroup",
    ),
    escaped: open,
  },
  {
    ...grave,
    id: "kernel-cgroup",
    what: "could write limits, membership or the release agent of control groups",
    steps: opensForWriting(["/sys/fs/cgroup/*", "/sys/fs/cgroup/*/*", "/sys/fs/cgroup/*/*/*"]),
    escaped: open,
  },
  {
    ...writesTo("kernel-tracing", "the kernel's tracing", [
      "/sys/kernel/tracing/*",
      "/sys/kernel/debug/*",
      "/sys/kernel/tracing/events/enable",
    ]),
    ...lacking,
  },
  {
    ...grave,
    isGrave: false,
    id: "kernel-memory-image",
    what: "reads the kernel's memory image or the addresses of its symbols",
    steps: python(`
try: print("OPEN", len(open("/proc/kcore", "rb").read(64)), "bytes of kcore")
except OSError as e: print(e)
try:
    if any(not line.startswith("0000000000000000") for line in open("/proc/kallsyms")): print("OPEN addresses of symbols")
except OSError as e: print(e)`),
    escaped: open,
  },
  {
    ...grave,
    isGrave: false,
    id: "kernel-log",
    what: "reads the kernel's log",
    tools: ["dmesg"],
    steps: "dmesg 2>&1 | head -c 300; head -c 100 /dev/kmsg; true",
    escaped: ({ output }) =>
      /^\[ *\d+\.\d+\]|^\d+,\d+,\d+,-;/m.test(output) ? "it reads the kernel's log" : undefined,
  },
  writesTo("device-memory", "the machine's memory and ports", [
    "/dev/mem",
    "/dev/kmem",
    "/dev/port",
    "/dev/kmsg",
    "/dev/cpu/*/msr",
    "/dev/nvram",
  ]),
  writesTo("device-disk", "a disk of the machine", [
    "/dev/sd*",
    "/dev/vd*",
    "/dev/nvme*",
    "/dev/loop*",
    "/dev/mapper/*",
    "/dev/dm-*",
  ]),
  writesTo("device-other", "devices a command has no use for", [
    "/dev/kvm",
    "/dev/vsock",
    "/dev/vhost-*",
    "/dev/net/tun",
    "/dev/uinput",
    "/dev/input/*",
    "/dev/tty[0-9]*",
    "/dev/console",
    "/dev/snd/*",
    "/dev/video*",
    "/dev/rfkill",
    "/dev/btrfs-control",
    "/dev/autofs",
    "/dev/cuse",
    "/dev/userfaultfd",
  ]),
  {
    ...grave,
    id: "device-made",
    what: "makes device nodes and opens them",
    tools: ["mknod"],
    steps: () =>
      "mknod disk b 253 0 && echo OPEN made; mknod mem c 1 1 && echo OPEN made; mknod /tmp/kmsg c 1 11 && echo OPEN made; head -c 4 mem > /dev/null && echo OPEN mem; mknod -m 666 null c 1 3; rm -f /tmp/kmsg; true",
    escaped: open,
  },
];
