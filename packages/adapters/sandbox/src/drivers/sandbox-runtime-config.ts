/** Converts a sandbox's policy to the configuration of @anthropic-ai/sandbox-runtime. */
import { existsSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Effect, SandboxSpec } from "@lathe/protocol";
import { isBelow } from "@lathe/system/paths";
import { controlFolder } from "../policy/folders.ts";
import type { Mount, Policy } from "../policy/policy.ts";
import { currentGuards, grantMounts } from "../policy/sandbox-policy.ts";

/**
 * As in version 0.0.78 of the library; a denied path is denied inside an allowed one too, except for
 * `allowRead`.
 */
export interface RuntimeConfig {
  readonly network: {
    readonly allowedDomains: readonly string[];
    readonly deniedDomains: readonly string[];
    /** On macOS it would open all servers of this machine. */
    readonly allowLocalBinding: false;
  };
  readonly filesystem: {
    readonly denyRead: readonly string[];
    readonly allowRead: readonly string[];
    readonly allowWrite: readonly string[];
    readonly denyWrite: readonly string[];
  };
}

export interface RuntimeConfigOptions {
  /** Absolute path of the user's home. */
  readonly home: string;
  readonly grants?: readonly Effect[] | undefined;
  /** The library's folder. */
  readonly folder?: string | undefined;
}

/** Folders with private data of people and their programs. */
const personal =
  "/Users /home /root /Volumes /mnt /media /tmp /private/tmp /var/tmp /private/var/tmp /var/folders /private/var/folders";
/** Writable in the library by default. */
const itsOwn = ["/tmp/claude", "/private/tmp/claude"];

/** Built for each command: it contains git's current guards. */
export function runtimeConfig(
  spec: SandboxSpec,
  policy: Policy,
  { home, grants, folder }: RuntimeConfigOptions,
): RuntimeConfig {
  const { writable: git, readOnly: sealed, links } = currentGuards(spec, home);
  const shown = [...policy.below, ...grantMounts(grants, home), ...policy.mounts];
  const own = [join(spec.scratch, controlFolder), ...(spec.hidden ?? [])];
  const hidden = [...personal.split(" "), home, ...(dirname(home) === "/" ? [] : [dirname(home)])];
  return {
    network: { allowedDomains: [], deniedDomains: [], allowLocalBinding: false },
    filesystem: {
      denyRead: unique([...hidden.filter(existsSync), ...own]),
      allowRead: unique([...shown.flatMap(readable), ...git, ...(folder === undefined ? [] : [folder])]),
      allowWrite: unique([...shown.flatMap(writable), ...git]),
      denyWrite: unique([...sealed, ...links, ...own, ...itsOwn]),
    },
  };
}

/** Paths in folders that are not hidden are readable anyway. */
function readable(mount: Mount): readonly string[] {
  if (mount.kind !== "read-only" && mount.kind !== "writable") return [];
  return mount.to === "/etc" || isBelow(mount.to, "/etc") ? [] : real(mount.from);
}

/** A folder mounted under another name, like the private /tmp, exists only under its own. */
function writable(mount: Mount): readonly string[] {
  return mount.kind === "writable" && mount.from === mount.to ? real(mount.from) : [];
}

/** The library supports only real paths. */
function real(path: string): readonly string[] {
  return existsSync(path) ? [realpathSync(path)] : [];
}

function unique(paths: readonly string[]): readonly string[] {
  return [...new Set(paths)];
}
