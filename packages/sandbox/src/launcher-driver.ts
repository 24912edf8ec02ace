/** The drivers whose commands run in a box of our own launcher: one starts it, one reaches it over a socket. */
import { spawn } from "node:child_process";
import { createConnection, Socket } from "node:net";
import { homedir } from "node:os";
import type { SandboxDriver, SandboxSpec } from "@lathe/protocol";
import type { Channel } from "./box.ts";
import { BoxStarter } from "./box-starter.ts";
import { makeControlGroups } from "./control-groups.ts";
import { openSandbox } from "./open-sandbox.ts";
import type { DriverOptions } from "./process-sandbox.ts";
import { sandboxPolicy } from "./sandbox-policy.ts";
import { type AgentSource, createAgentSource } from "./spare-agent.ts";

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

/** *Contract:* whether the launcher works here is `probeDriver`'s question; this one only uses it. */
export function createLauncherDriver(options: LauncherOptions): SandboxDriver {
  const sources = {
    none: createAgentSource(() => startAgent(options.binary, "private")),
    host: createAgentSource(() => startAgent(options.binary, "host-network")),
  };
  return boxDriver("launcher", ({ network }) => sources[network], options);
}

/** The same agent in another process's care, as a remote one would be. */
export function createSocketDriver(options: SocketOptions): SandboxDriver {
  const source = createAgentSource(() => createConnection(options.socket));
  return boxDriver("socket", () => source, options);
}

function boxDriver(
  name: string,
  sourceFor: (spec: SandboxSpec) => AgentSource,
  options: BoxDriverOptions,
): SandboxDriver {
  const open: SandboxDriver["open"] = async (spec) =>
    openSandbox(
      spec,
      () => {
        const { home = homedir(), cacheFolder, limits } = options;
        const policy = sandboxPolicy(spec, { home, cacheFolder, limits });
        return new BoxStarter(spec, {
          agents: sourceFor(spec),
          policy,
          groups: makeControlGroups(policy.limits),
        });
      },
      options,
    );
  return { name, tier: "full", open };
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
