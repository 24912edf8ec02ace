/** The driver of last resort: commands run as plain processes, without any containment. */
import type { SandboxDriver, SandboxSpec } from "@lathe/protocol";
import { findShell, shellArgs } from "../environment/shell.ts";
import { openSandbox } from "../open-sandbox.ts";
import type { DriverOptions } from "../process-sandbox.ts";
import type { Launcher } from "../processes/launch.ts";
import { LocalStarter } from "../processes/local-starter.ts";

/** Runs commands with the user's own rights; policy asks before each one unless the user chose otherwise. */
export function createNoneDriver(options: DriverOptions = {}): SandboxDriver {
  const open: SandboxDriver["open"] = async (spec) =>
    openSandbox(spec, () => new LocalStarter(spec, noneLauncher(spec)), options);
  return { name: "none", tier: "none", network: "open", open };
}

function noneLauncher(spec: SandboxSpec): Launcher {
  const shell = findShell(spec.env.PATH ?? "", spec.workspace);
  return {
    isNamespace: false,
    launch: ({ script, cwd }, mark) => ({
      file: shell.file,
      args: shellArgs(shell, script, spec.scratch),
      cwd,
      env: { ...spec.env, [mark.name]: mark.value },
    }),
  };
}
