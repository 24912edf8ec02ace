/** What a box is told: its policy once, and each command. */
import type { Command } from "@lathe/protocol";
import { wordBytes } from "./box-frames.ts";
import type { GitGuards } from "./git-guards.ts";
import type { Mount, Policy } from "./policy.ts";

const protocolVersion = "1";

/** What the control groups of a box do for it. */
export interface Groups {
  /** Where the kernel counts what it ended for want of memory. */
  readonly oomCount?: string;
  /** Whether they hold the memory, so that no single process need be limited. */
  readonly holdMemory: boolean;
}

/** A port of the box's loopback, and the unix socket outside that connections to it go to. */
export interface Forward {
  readonly port: number;
  readonly socket: string;
}

export function openPayload({ limits, mounts }: Policy, groups: Groups, forward?: Forward): Buffer {
  return wordBytes([
    protocolVersion,
    ...(groups.oomCount === undefined ? [] : ["oom-count", groups.oomCount]),
    ...["limit", "processes", String(limits.processes), "limit", "file-size", String(limits.fileBytes)],
    ...(groups.holdMemory ? [] : ["limit", "memory", String(limits.memoryBytes)]),
    ...(forward ? ["forward", String(forward.port), forward.socket] : []),
    ...mounts.flatMap(mountWords),
  ]);
}

export interface RunRequest {
  readonly command: Command;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly hasInput: boolean;
  readonly guards: GitGuards;
}

/** The agent wants `terminal` first. */
export function runPayload({ command, args, env, hasInput, guards }: RunRequest): Buffer {
  const { terminal, apart, cwd } = command;
  return wordBytes([
    ...(terminal ? ["terminal", String(terminal.rows), String(terminal.columns)] : []),
    ...(hasInput ? ["input"] : []),
    ...(apart ? ["apart"] : []),
    ...guards.writable.flatMap((path) => ["pin", path]),
    ...guards.links.flatMap((path) => ["pin", path]),
    ...guards.readOnly.flatMap((path) => ["seal", path]),
    ...["in", cwd],
    ...args.flatMap((word) => ["arg", word]),
    ...Object.entries(env).flatMap(([name, value]) => ["env", `${name}=${value}`]),
  ]);
}

function mountWords(mount: Mount): readonly string[] {
  switch (mount.kind) {
    case "read-only":
      return ["ro", mount.from, mount.to];
    case "writable":
      return ["rw", mount.from, mount.to];
    case "overlay":
      return ["overlay", mount.from, mount.upper, mount.work, mount.to];
    case "link":
      return ["link", mount.target, mount.at];
    case "folder":
      return ["dir", mount.at];
    case "hidden":
      return ["tmpfs", mount.at];
  }
}
