/** Simulates machines that lack a feature, to test how the sandbox finds its driver. */
import { spawnSync } from "node:child_process";
import { accessSync, constants, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { delimiter, join } from "node:path";

/** Words before a command that put it into the environment. */
export type RestrictedEnvironment = readonly string[];

/** Like a container: blocks all calls that make or enter a namespace, and all mounts. */
const forbidding = `
import ctypes, os, platform, struct, sys
x64 = platform.machine() == "x86_64"
unshare, clone, setns, mount = (272, 56, 308, 165) if x64 else (97, 220, 268, 40)
def step(code, then, otherwise, value): return struct.pack("HBBI", code, then, otherwise, value)
refuse, missing, allow = (0x06, 0, 0, 0x50001), (0x06, 0, 0, 0x50026), (0x06, 0, 0, 0x7fff0000)
steps = [(0x20, 0, 0, 0)]
for number in (unshare, setns, mount): steps += [(0x15, 0, 1, number), refuse]
steps += [(0x15, 0, 1, 435), missing]
steps += [(0x15, 0, 3, clone), (0x20, 0, 0, 16), (0x45, 0, 1, 0x7e020000), refuse, allow]
code = b"".join(step(*one) for one in steps)
text = ctypes.create_string_buffer(code)
program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(steps), ctypes.addressof(text)))
libc = ctypes.CDLL(None, use_errno=True)
if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, program, 0, 0): sys.exit("no filter could be installed")
os.execvp(sys.argv[1], sys.argv[1:])
`;

export const asEver: RestrictedEnvironment = [];
export const filtered: RestrictedEnvironment = ["python3", "-c", forbidding];

/** Uses the kernel's own limit on namespaces, without the rights to bypass it. */
export const limited: RestrictedEnvironment = [
  ...["unshare", "--user", "--map-root-user", "sh", "-c"],
  'echo 0 > /proc/sys/user/max_user_namespaces && exec setpriv --bounding-set=-all --inh-caps=-all --securebits=+noroot,+noroot_locked "$@"',
  "sh",
];

/** Makes everything read-only except the folder, which is empty. */
export function readOnlyRoot(folder: string): RestrictedEnvironment {
  const script = `mount --make-rprivate / && mount -t tmpfs none ${folder} && chmod 1777 ${folder} && awk '{print $5}' /proc/self/mountinfo | while read -r at; do case $at in ${folder}|/proc*|/dev*) ;; *) mount -o remount,bind,ro "$at" 2>/dev/null;; esac; done; ! touch /usr/lathe-matrix 2>/dev/null && exec "$@"`;
  return ["unshare", "--mount", "sh", "-c", script, "sh"];
}

/** Replaces the older control groups by the newer ones, as far as the machine has controllers left. */
export const unifiedGroups: RestrictedEnvironment = [
  ...["unshare", "--mount", "sh", "-c"],
  'mount --make-rprivate / && umount -R /sys/fs/cgroup && mount -t cgroup2 none /sys/fs/cgroup && exec "$@"',
  "sh",
];

export const noGroups: RestrictedEnvironment = [
  ...["unshare", "--mount", "sh", "-c"],
  'mount --make-rprivate / && umount -R /sys/fs/cgroup && exec "$@"',
  "sh",
];

/** Words that run the rest as another user; only root can do that. */
export function asUser({ uid, gid }: { readonly uid: number; readonly gid: number }): RestrictedEnvironment {
  return ["setpriv", `--reuid=${uid}`, `--regid=${gid}`, "--clear-groups"];
}

/** The reason why this machine cannot simulate it; undefined if it can. */
export function cannotMake(environment: RestrictedEnvironment): string | undefined {
  const [file, ...words] = [...environment, "true"];
  const { status, stderr, error } = spawnSync(file as string, words, { encoding: "utf8" });
  if (status === 0) return undefined;
  return `not to be made on this machine: ${error?.message ?? stderr.trim().split("\n").at(-1)}`;
}

/** Makes a folder with links to every program of a PATH, except some. */
export function pathWithout(folder: string, path: string, left: readonly string[]): string {
  mkdirSync(folder, { recursive: true });
  const names = new Set<string>();
  for (const from of path.split(delimiter)) {
    for (const name of namesIn(from)) {
      if (names.has(name) || left.includes(name) || !isProgram(join(from, name))) continue;
      names.add(name);
      symlinkSync(join(from, name), join(folder, name));
    }
  }
  return folder;
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
