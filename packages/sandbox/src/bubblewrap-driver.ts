/** The driver that contains commands with bubblewrap: namespaces, a minimal root, no capabilities. */
import { homedir } from "node:os";
import { join } from "node:path";
import { type Failure, failure, type SandboxDriver, type SandboxSpec } from "@lathe/protocol";
import { changingArgs, fixedArgs } from "./bubblewrap-args.ts";
import type { Outside } from "./denials.ts";
import type { Launcher } from "./launch.ts";
import { openSandbox } from "./open-sandbox.ts";
import type { DriverOptions } from "./process-sandbox.ts";
import { hasChild } from "./process-tree.ts";
import { findShell, shellArgs } from "./shell.ts";
import { toolchainPaths } from "./toolchains.ts";

export interface BubblewrapOptions extends DriverOptions {
  /** Absolute path of the program. */
  readonly binary?: string;
}

/** *Contract:* whether bubblewrap works here is `probeDriver`'s question; this one only uses it. */
export function createBubblewrapDriver(options: BubblewrapOptions = {}): SandboxDriver {
  const open: SandboxDriver["open"] = async (spec) =>
    openSandbox(spec, () => bubblewrapLauncher(spec, options), options);
  return { name: "bubblewrap", tier: "full", open };
}

function bubblewrapLauncher(spec: SandboxSpec, options: BubblewrapOptions): Launcher {
  const { binary = "/usr/bin/bwrap", home = homedir() } = options;
  const shell = findShell(spec.env.PATH ?? "");
  const fixed = fixedArgs(spec, home);
  const env = { ...spec.env, ...rootEnv() };
  const setEnv = Object.entries(env).flatMap(([name, value]) => ["--setenv", name, value]);
  return {
    isNamespace: true,
    outside: outsideOf(spec, home),
    launch: ({ script, cwd, grants }, mark) => {
      const start = [
        "--setenv",
        mark.name,
        mark.value,
        "--chdir",
        cwd,
        "--json-status-fd",
        "3",
        "--",
        shell.file,
      ];
      const shellWords = shellArgs(shell, script, () => join(spec.scratch, `script-${mark.value}sh`));
      const args = [...fixed, ...changingArgs(spec, grants), ...setEnv, ...start, ...shellWords];
      // Its own environment stays readable inside, in /proc/1/environ.
      return { file: binary, args, cwd: "/", env: {} };
    },
    judge: (status, output) => (/"exit-code"/u.test(status) ? undefined : unavailable(output)),
    isStarted: (status) => {
      const pid = /"child-pid": (\d+)/u.exec(status)?.[1];
      return pid !== undefined && hasChild(Number(pid));
    },
  };
}

function outsideOf({ workspace, scratch, env }: SandboxSpec, home: string): Outside {
  const readable = ["/usr", "/bin", "/sbin", "/lib", "/lib64", ...toolchainPaths(env.PATH ?? "", home, [])];
  return { home, writable: [workspace, scratch], readable };
}

function unavailable(output: string): Failure {
  const text = "the sandbox (bubblewrap) could not be started; `lathe doctor` says why";
  return failure("sandbox-unavailable", text, { cause: output.trim() });
}

/** Without capabilities root cannot give files away, which tar would try. */
function rootEnv(): Readonly<Record<string, string>> {
  return process.getuid?.() === 0 ? { TAR_OPTIONS: "--no-same-owner" } : {};
}
