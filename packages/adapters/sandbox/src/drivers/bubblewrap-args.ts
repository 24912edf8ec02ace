/** Converts a sandbox's policy to bubblewrap's arguments. */
import { readdirSync, type Stats } from "node:fs";
import type { Command, SandboxSpec } from "@lathe/protocol";
import { kindOf } from "@lathe/system/paths";
import type { Mount, Policy } from "../policy/policy.ts";
import { currentGuards } from "../policy/sandbox-policy.ts";
import { withSealed } from "../policy/sealed-paths.ts";

const procFolders = "sys irq bus fs tty driver pressure asound dynamic_debug acpi scsi".split(" ");

/** Entries of /proc that belong to no process and that root could write through any namespace. */
function procGuards(): readonly string[] {
  // Not by directory entry type: processes end during the scan.
  const others = readdirSync("/proc").filter((name) => !/^\d/u.test(name));
  const isWritable = (kind: Stats | undefined): boolean => kind?.isFile() === true && (kind.mode & 0o222) > 0;
  const names = others.filter((name) => isWritable(kindOf(`/proc/${name}`)));
  return [...procFolders, ...names].map((name) => `/proc/${name}`);
}

/** Namespaces and kernel file systems: the same for every command. */
export function isolationArgs({ network, limits }: Policy): readonly string[] {
  const isRoot = process.getuid?.() === 0;
  return [
    "--unshare-all",
    ...(network === "host" ? ["--share-net"] : []),
    "--die-with-parent",
    "--new-session",
    "--clearenv",
    "--cap-drop",
    "ALL",
    "--proc",
    "/proc",
    ...(isRoot ? procGuards().flatMap((path) => ["--ro-bind-try", path, path]) : []),
    "--dev",
    "/dev",
    "--size",
    String(Math.floor(limits.memoryBytes / 2)),
    "--tmpfs",
    "/dev/shm",
  ];
}

/** The following arguments: git's current guards, and the closing of the root. */
export function changingArgs(spec: SandboxSpec, home: string, command: Command): readonly string[] {
  const { writable, readOnly: guarded } = withSealed(currentGuards(spec, home), command, spec);
  return [
    ...writable.flatMap((path) => ["--bind", path, path]),
    ...guarded.flatMap((path) => ["--ro-bind", path, path]),
    "--remount-ro",
    "/",
  ];
}

/** Later mounts cover earlier ones. */
export function rootArgs(mounts: readonly Mount[]): readonly string[] {
  return mounts.flatMap(mountArgs);
}

function mountArgs(mount: Mount): readonly string[] {
  switch (mount.kind) {
    case "read-only":
      return ["--ro-bind", mount.from, mount.to];
    case "writable":
      return ["--bind", mount.from, mount.to];
    case "pinned":
      return ["--bind", mount.at, mount.at];
    case "overlay":
      throw new Error("bubblewrap is given no forks");
    case "link":
      return ["--symlink", mount.target, mount.at];
    case "folder":
      return ["--dir", mount.at];
    case "hidden":
      return ["--tmpfs", mount.at];
  }
}
