/** The drivers whose commands run in a box of our own launcher: one starts it, one reaches it over a socket. */
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { createConnection, Socket } from "node:net";
import { homedir } from "node:os";
import { join } from "node:path";
import type { SandboxDriver, SandboxSpec } from "@lathe/protocol";
import type { Channel } from "./box.ts";
import { BoxStarter } from "./box-starter.ts";
import { makeControlGroups } from "./control-groups.ts";
import { controlFolder } from "./folders.ts";
import { NetworkGate, type NetworkOptions } from "./network-gate.ts";
import { openSandbox } from "./open-sandbox.ts";
import type { DriverOptions } from "./process-sandbox.ts";
import { sandboxPolicy } from "./sandbox-policy.ts";

interface BoxDriverOptions extends DriverOptions {
  /** The user's own folder for what can be made again; without it each sandbox makes its own. */
  readonly cacheFolder?: string;
}

export interface LauncherOptions extends BoxDriverOptions {
  /** Absolute path of the launcher. */
  readonly binary: string;
}

export interface SocketOptions extends BoxDriverOptions {
  /** Where `lathe-box listen` listens. */
  readonly socket: string;
}

const modes = { none: "private", host: "host-network" } as const;

/** *Contract:* whether the launcher works here is `probeDriver`'s question; this one only uses it. */
export function createLauncherDriver(options: LauncherOptions): SandboxDriver {
  return boxDriver("launcher", ({ network }) => startAgent(options.binary, modes[network]), options);
}

/** The same agent in another process's care, as a remote one would be. */
export function createSocketDriver(options: SocketOptions): SandboxDriver {
  return boxDriver("socket", () => createConnection(options.socket), options);
}

function boxDriver(
  name: string,
  connect: (spec: SandboxSpec) => Channel,
  options: BoxDriverOptions,
): SandboxDriver {
  const open: SandboxDriver["open"] = async (spec) =>
    openSandbox(
      spec,
      () => {
        const { home = homedir(), cacheFolder, limits } = options;
        const policy = sandboxPolicy(spec, { home, cacheFolder, limits });
        const gate = openGate(spec, options.network);
        return new BoxStarter(spec, {
          connect: () => connect(spec),
          policy,
          home,
          ...(gate && { gate }),
          groups: makeControlGroups(policy.limits),
        });
      },
      options,
    );
  return { name, tier: "full", network: options.network ? "granted" : "closed", open };
}

/** Its socket lies where no command can see or replace it. */
function openGate(
  { workspace, scratch, network }: SandboxSpec,
  options?: NetworkOptions,
): NetworkGate | undefined {
  if (!options || network === "host") return undefined;
  const name = `proxy-${randomBytes(6).toString("hex")}`;
  return new NetworkGate(join(scratch, controlFolder, name), workspace, options);
}

/** One two-way channel, and nothing else of ours: no environment, no terminal, no group. */
function startAgent(binary: string, mode: string): Channel {
  const child = spawn(binary, ["3", mode], {
    cwd: "/",
    env: {},
    detached: true,
    stdio: ["ignore", "ignore", "ignore", "pipe"],
  });
  child.unref();
  const channel = child.stdio[3];
  const socket = channel instanceof Socket ? channel : new Socket();
  child.once("error", (error) => socket.destroy(error));
  return socket;
}
