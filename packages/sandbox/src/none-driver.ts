/** The driver of last resort: commands run as plain processes, with nothing to hold them in. */
import { join } from "node:path";
import type { Failure, Sandbox, SandboxDriver, SandboxSpec } from "@lathe/protocol";
import { prepareFolders } from "./folders.ts";
import type { Launcher } from "./launch.ts";
import { type DriverOptions, ProcessSandbox } from "./process-sandbox.ts";
import { findShell, shellArgs } from "./shell.ts";

/** Commands with the user's own rights; policy asks before each unless the user chose otherwise. */
export function createNoneDriver(options: DriverOptions = {}): SandboxDriver {
  return { name: "none", tier: "none", open: async (spec) => open(spec, options) };
}

function open(spec: SandboxSpec, options: DriverOptions): Sandbox | Failure {
  const refusal = prepareFolders(spec);
  return refusal ?? new ProcessSandbox(spec, noneLauncher(spec), options);
}

function noneLauncher(spec: SandboxSpec): Launcher {
  const shell = findShell(spec.env.PATH ?? "");
  return {
    isNamespace: false,
    launch: ({ script, cwd }, mark) => ({
      file: shell.file,
      args: shellArgs(shell, script, () => join(spec.scratch, `script-${mark.value}sh`)),
      cwd,
      env: { ...spec.env, [mark.name]: mark.value },
    }),
  };
}
