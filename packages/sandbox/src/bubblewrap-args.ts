/** The policy of a sandbox as bubblewrap's arguments: a minimal read-only root, and little to write. */
import { existsSync, lstatSync, readlinkSync, realpathSync } from "node:fs";
import { join } from "node:path";
import type { Effect, SandboxSpec } from "@lathe/protocol";
import { controlFolder } from "./folders.ts";
import { gitGuards } from "./git-guards.ts";

import { settingsArgs } from "./system-settings.ts";
import { toolchainPaths } from "./toolchains.ts";

const systemFolders = ["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];

/** Files of /proc that root could write through any namespace. */
const procGuards = ["/proc/sys", "/proc/sysrq-trigger"];

/** The arguments that do not change from command to command. */
export function fixedArgs(spec: SandboxSpec, home: string): readonly string[] {
  const { workspace, scratch, network, env } = spec;
  return [
    ...["--unshare-all", ...(network === "host" ? ["--share-net"] : [])],
    ...["--die-with-parent", "--new-session", "--clearenv", "--cap-drop", "ALL"],
    ...["--ro-bind", "/usr", "/usr"],
    ...systemFolders.flatMap(systemFolder),
    ...settingsArgs(join(scratch, controlFolder, "etc")),
    ...toolchainPaths(env.PATH ?? "", home, ["/usr", "/bin", "/sbin", workspace, scratch]).flatMap(readOnly),
    ...["--proc", "/proc", ...(process.getuid?.() === 0 ? procGuards.flatMap(readOnly) : [])],
    ...["--dev", "/dev", "--dir", "/run", "--dir", "/var", "--symlink", "/tmp", "/var/tmp"],
    ...["--bind", join(scratch, "tmp"), "/tmp"],
  ];
}

/** What follows them: grants, over them the workspace with git's guards as they are now, the scratch folder, and the root closed. */
export function changingArgs(
  { workspace, scratch }: SandboxSpec,
  grants: readonly Effect[] = [],
): readonly string[] {
  const { writable, readOnly: guarded } = gitGuards(workspace);
  return [
    ...grants.flatMap(granted),
    ...["--bind", workspace, workspace],
    ...writable.flatMap((path) => ["--bind", path, path]),
    ...guarded.flatMap((path) => ["--ro-bind", path, path]),
    ...["--bind", scratch, scratch, "--tmpfs", join(scratch, controlFolder)],
    ...["--remount-ro", "/"],
  ];
}

function systemFolder(path: string): readonly string[] {
  if (!existsSync(path)) return [];
  return lstatSync(path).isSymbolicLink()
    ? ["--symlink", readlinkSync(path), path]
    : ["--ro-bind", path, path];
}

function granted({ kind, target }: Effect): readonly string[] {
  if (kind === "write") return ["--bind-try", target, target];
  return kind === "read" ? ["--ro-bind-try", target, target] : [];
}

function readOnly(path: string): readonly string[] {
  return existsSync(path) ? ["--ro-bind", realpathSync(path), path] : [];
}
