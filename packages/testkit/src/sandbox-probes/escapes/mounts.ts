/** Escapes: changing mounts, and leaving the namespaces. */
import type { Ground } from "../ground.ts";
import { type EscapeProbe, told } from "../probe.ts";
import { notOnTheHost, syscalls } from "../script-parts.ts";

const grave = { group: "mounts", isGrave: true } as const;
const hostMounts = "it would change the machine's own mounts";

/** Tries to write wherever a changed mount may have opened a way. */
const tryWrites = ({ canary, outside }: Ground): string =>
  `echo changed > ${canary}; mkdir -p ${outside}; echo new > ${outside}/new; echo x > /usr/lathe-probe && echo MOUNTED /usr is writable; echo x > /etc/lathe-probe && echo MOUNTED /etc is writable; rm -f /usr/lathe-probe /etc/lathe-probe; true`;

const mounted = told(/MOUNTED.*/);

export const mounts: readonly EscapeProbe[] = [
  {
    ...grave,
    id: "mount-remount",
    what: "mounts every read-only place again, writable",
    noControl: hostMounts,
    steps: (ground) =>
      `${notOnTheHost(ground)}for m in $(cut -d' ' -f5 /proc/self/mountinfo); do mount -o remount,bind,rw $m 2>/dev/null && echo MOUNTED $m; mount -o remount,rw $m 2>/dev/null && echo MOUNTED $m; done; ${tryWrites(ground)}`,
    escaped: mounted,
  },
  {
    ...grave,
    id: "mount-unmount",
    what: "unmounts everything, to see what lies below",
    noControl: hostMounts,
    steps: (ground) =>
      `${notOnTheHost(ground)}for m in $(cut -d' ' -f5 /proc/self/mountinfo | tac); do umount -l $m 2>/dev/null && echo MOUNTED no more: $m; done; ${tryWrites(ground)}`,
    escaped: mounted,
  },
  {
    ...grave,
    id: "mount-bind",
    what: "mounts a folder of its own over a system folder, and the root elsewhere",
    noControl: hostMounts,
    steps: (ground) =>
      `${notOnTheHost(ground)}mkdir a b; mount --bind a /usr/bin && echo MOUNTED over /usr/bin; mount --rbind / b && echo MOUNTED the root; mount -t tmpfs x /etc && echo MOUNTED over /etc; mount -t proc x b && echo MOUNTED proc; mount -t sysfs x b && echo MOUNTED sysfs; mount -t cgroup2 x b && echo MOUNTED cgroup2; mount -t cgroup -o memory x b && echo MOUNTED cgroup; mount -t devtmpfs x b && echo MOUNTED devtmpfs; true`,
    escaped: mounted,
  },
  {
    ...grave,
    id: "mount-in-user-namespace",
    what: "makes a user and a mount namespace and mounts there",
    tools: ["unshare"],
    steps: (ground) =>
      `unshare --user --map-root-user --mount sh -c ': ${ground.tag}; mkdir -p a; mount -t tmpfs x a && echo own tmpfs; mount --rbind / a && echo own root; for m in $(cut -d" " -f5 /proc/self/mountinfo); do mount -o remount,bind,rw $m; done 2>/dev/null; ${tryWrites(ground)}'; true`,
    escaped: mounted,
  },
  {
    ...grave,
    isGrave: false,
    id: "namespace-user",
    what: "makes a user namespace of its own, with all capabilities in it",
    tools: ["unshare", "python3"],
    steps: () =>
      `unshare --user --map-root-user echo NESTED; unshare -U echo NESTED; ${syscalls(`print("NESTED" if call("unshare", 0x10000000) == 0 else "no")`)}`,
    escaped: ({ output }) => (output.includes("NESTED") ? "it has a user namespace of its own" : undefined),
  },
  {
    ...grave,
    id: "namespace-enter",
    what: "enters the namespaces of other processes",
    tools: ["nsenter", "python3"],
    controlNeeds: ["root"],
    steps: ({ sleeper, harnessPid, outside }) =>
      `for p in ${sleeper.pid} ${harnessPid} 1; do nsenter -t $p -m -- sh -c 'echo new > ${outside}/new'; nsenter -t $p -a -- sh -c 'echo new > ${outside}/new'; nsenter -t $p -U --preserve-credentials -- sh -c 'echo new > ${outside}/new'; done; true`,
  },
  {
    ...grave,
    id: "namespace-setns",
    what: "joins each namespace that any process it sees shows",
    noControl: "without a sandbox every process is in the same namespaces",
    tools: ["python3"],
    steps: () =>
      syscalls(`
import glob
for path in glob.glob("/proc/[0-9]*/ns/*"):
    try:
        if os.stat(path).st_ino == os.stat("/proc/self/ns/" + path.split("/")[-1]).st_ino: continue
        if call("setns", os.open(path, os.O_RDONLY), 0) == 0: print("MOUNTED: joined", path)
    except OSError: pass`),
    escaped: mounted,
  },
  {
    ...grave,
    id: "mount-chroot",
    what: "changes the root folder to that of other processes, and pivots",
    tools: ["python3"],
    controlNeeds: ["root"],
    steps: ({ harnessPid, sleeper, outside }) =>
      syscalls(`
for pid in (1, ${harnessPid}, ${sleeper.pid}):
    if os.fork() == 0:
        try: os.chroot(f"/proc/{pid}/root"); os.chdir("/"); open("${outside}/new", "w").write("x")
        except OSError as e: print(e)
        os._exit(0)
    os.wait()`),
  },
  {
    ...grave,
    id: "mount-new-api",
    what: "clones mounts by the newer system calls",
    tools: ["python3"],
    controlNeeds: ["root"],
    steps: () =>
      syscalls(`
for name, got in (("open_tree", call("open_tree", -100, b"/", 1)), ("fsopen", call("fsopen", b"tmpfs", 0))):
    print(name, got)
    if isinstance(got, int): print("MOUNTED:", name)`),
    escaped: mounted,
  },
  {
    ...grave,
    id: "mount-by-handle",
    what: "opens a file outside by a file handle",
    tools: ["python3"],
    controlNeeds: ["root"],
    // The root folder of an ext4 file system has inode 2: its handle is known without asking.
    steps: ({ canary, workspace }) =>
      syscalls(`
import struct
here = os.open("${workspace}", os.O_RDONLY)
root = struct.pack("=Iiii", 8, 1, 2, 0)
got = call("open_by_handle_at", here, ctypes.create_string_buffer(root, len(root)), os.O_RDONLY)
print(got)
if isinstance(got, int):
    print("MOUNTED: opened", os.readlink(f"/proc/self/fd/{got}"))
    try: print(open(os.open("${canary}"[1:], os.O_RDWR, dir_fd=got), "r+").read())
    except OSError as e: print(e)`),
    escaped: mounted,
  },
];
