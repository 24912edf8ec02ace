/** The driver for where there are no namespaces: the launcher's agent, held by Landlock and the filter alone. */
import { mkdtempSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { SandboxDriver } from "@lathe/protocol";
import { realPath } from "@lathe/system/paths";
import { type AgentSource, createAgentSource } from "../box/agent-source.ts";
import { BoxStarter } from "../box/box-starter.ts";
import { openSandbox } from "../open-sandbox.ts";
import type { Mount, Policy } from "../policy/policy.ts";
import { sandboxPolicy, usualLimits } from "../policy/sandbox-policy.ts";
import { settingsPaths } from "../policy/system-settings.ts";
import type { DriverOptions } from "../process-sandbox.ts";
import { startAgents } from "./launcher-driver.ts";

export interface LandlockOptions extends DriverOptions {
  /** Absolute path of the launcher. */
  readonly binary: string;
  /** The user's own folder for what can be made again; commands do not reach it. */
  readonly cacheFolder: string;
  /** Of Landlock in this kernel. */
  readonly version: number;
}

const withDevices = 5;
const withScopes = 6;

/** What holds in the full tier and not in this one, as a person reads it. */
const always: readonly string[] = [
  "there is no private /tmp and no /dev/shm: temporary files go to TMPDIR",
  "there are no sockets at all, so servers and clients do not meet on 127.0.0.1",
  "commands open no terminals of their own; who asks for one gets one",
  "git's hooks, editors' tasks and the like are not sealed: what a command changes there is put back when it ends, and every quarter of a second; a git folder can be moved away",
  "what you refused to have deleted is not sealed: only the words of a command show that it would be",
  "logins at MCP servers are not hidden where the state folder lies in the workspace",
  "names and command lines of the machine's processes are listed, and its sockets, not what is in them",
  "whether a file exists outside, how large it is and when it changed can be asked",
];

/** *Contract:* what this kernel does not hold, one sentence each. */
export function landlockLacks(version: number): readonly string[] {
  const old = (what: string, linux: string): string => `${what}: that needs Linux ${linux}`;
  return [
    ...always,
    ...(version < withScopes
      ? [
          old(
            "signals to the user's other processes are not held back, and a command can outlive its watcher",
            "6.12",
          ),
        ]
      : []),
    ...(version < withDevices
      ? [old("requests to the few devices that can be opened are not held back", "6.10")]
      : []),
    ...(process.getuid?.() === 0 ? ["root's number of processes is limited only by control groups"] : []),
  ];
}

/** *Contract:* whether it works here is `probeDriver`'s question; this one only uses it. */
export function createLandlockDriver(options: LandlockOptions): SandboxDriver {
  const { binary, cacheFolder, home = homedir(), version } = options;
  const limits = { ...usualLimits(), ...options.limits };
  const source = (mode: string): AgentSource =>
    createAgentSource((count, { mounts }) => startAgents({ binary, mode, limits, count, mounts }));
  const sources = { none: source("reduced"), host: source("reduced-host-network") };
  const open: SandboxDriver["open"] = async (spec) =>
    openSandbox(
      spec,
      () => {
        const policy = landlockPolicy(sandboxPolicy(spec, { home, cacheFolder, limits }));
        // Commands reach all of the scratch folder, and must not set the clock by which their changes are known.
        const unsealed = mkdtempSync(join(cacheFolder, "watch-"));
        const close = (): void => rmSync(unsealed, { recursive: true, force: true });
        // Git ends at settings of the system that it may not read.
        const env = { ...spec.env, GIT_CONFIG_NOSYSTEM: "1" };
        const agents = sources[spec.network];
        return new BoxStarter({ ...spec, env }, { agents, policy, home, unsealed, close });
      },
      options,
    );
  return { name: "landlock", tier: "reduced", network: "closed", lacks: landlockLacks(version), open };
}

/** The same policy; what a mount would put together or hide is left out, and refused like all that is not named. */
function landlockPolicy(policy: Policy): Policy {
  return {
    ...policy,
    // Nothing can be mounted ahead where nothing is mounted.
    system: { ...policy.system, mounts: [] },
    below: policy.below.flatMap(allowed),
    mounts: [...settingsPaths().flatMap(readOnly), ...policy.mounts.flatMap(allowed)],
  };
}

function allowed(mount: Mount): readonly Mount[] {
  if (mount.kind === "read-only") return mount.to === "/etc" ? [] : readOnly(mount.from);
  // A folder under another name, as the private /tmp, is there under its own.
  if (mount.kind !== "writable" || mount.from !== mount.to) return [];
  const real = realPath(mount.from);
  return real === undefined ? [] : [{ kind: "writable", from: real, to: real }];
}

function readOnly(path: string): readonly Mount[] {
  const real = realPath(path);
  return real === undefined ? [] : [{ kind: "read-only", from: real, to: real }];
}
