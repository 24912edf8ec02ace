/** The driver that contains commands with bubblewrap: namespaces, a minimal root, no capabilities. */
import { writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { type Failure, failure, type SandboxDriver, type SandboxSpec } from "@lathe/protocol";
import { changingArgs, isolationArgs, rootArgs } from "./bubblewrap-args.ts";
import { makeControlGroups } from "./control-groups.ts";
import { outsideOf, shownBy } from "./denials.ts";
import { controlFolder } from "./folders.ts";
import { joinedWords, limitedWords } from "./held-command.ts";
import type { Launcher } from "./launch.ts";
import { LocalStarter } from "./local-starter.ts";
import { openSandbox } from "./open-sandbox.ts";
import type { DriverOptions } from "./process-sandbox.ts";
import { hasChild } from "./process-tree.ts";
import { rootEnv } from "./root-env.ts";
import { grantMounts, sandboxPolicy } from "./sandbox-policy.ts";
import { seccompProgram } from "./seccomp-program.ts";
import { findShell, shellArgs } from "./shell.ts";

export interface BubblewrapOptions extends DriverOptions {
  /** Absolute path of the program. */
  readonly binary?: string;
}

/** *Contract:* whether bubblewrap works here is `probeDriver`'s question; this one only uses it. */
export function createBubblewrapDriver(options: BubblewrapOptions = {}): SandboxDriver {
  const open: SandboxDriver["open"] = async (spec) =>
    openSandbox(spec, () => new LocalStarter(spec, bubblewrapLauncher(spec, options)), options);
  return { name: "bubblewrap", tier: "full", network: "closed", hasSeparateNetworks: true, open };
}

function bubblewrapLauncher(spec: SandboxSpec, options: BubblewrapOptions): Launcher {
  const { binary = "/usr/bin/bwrap", home = homedir() } = options;
  const shell = findShell(spec.env.PATH ?? "");
  const policy = sandboxPolicy(spec, { home, limits: options.limits });
  const groups = makeControlGroups(policy.limits);
  const joined = joinedWords(groups.joins);
  const limited = limitedWords(shell, policy.limits, groups.holdMemory);
  const [isolation, root] = [isolationArgs(policy), rootArgs(policy.mounts)];
  const env = { ...spec.env, ...rootEnv() };
  const filter = seccompFile(spec.scratch);
  const setEnv = Object.entries(env).flatMap(([name, value]) => ["--setenv", name, value]);
  return {
    isNamespace: true,
    close: groups.remove,
    outside: outsideOf(policy, home),
    shown: shownBy(policy),
    launch: (command, mark) => {
      const { script, cwd, grants } = command;
      const start = [
        "--setenv",
        mark.name,
        mark.value,
        "--chdir",
        cwd,
        "--json-status-fd",
        "3",
        ...(filter === undefined ? [] : ["--seccomp", "4"]),
        "--",
        ...limited,
        shell.file,
      ];
      const shellWords = shellArgs(shell, script, spec.scratch);
      const granted = rootArgs(grantMounts(grants, home));
      const changing = [...rootArgs(policy.below), ...granted, ...root, ...changingArgs(spec, home, command)];
      const args = [...isolation, ...changing, ...setEnv, ...start, ...shellWords];
      // Its own environment stays readable inside, in /proc/1/environ.
      const [file = binary, ...words] = [...joined, binary, ...args];
      return { file, args: words, cwd: "/", env: {}, ...(filter !== undefined && { reads: filter }) };
    },
    judge: (status, output) => (/"exit-code"/u.test(status) ? undefined : unavailable(output)),
    isStarted: (status) => {
      const pid = /"child-pid": (\d+)/u.exec(status)?.[1];
      return pid !== undefined && hasChild(Number(pid));
    },
  };
}

/** In the folder that commands do not see. */
function seccompFile(scratch: string): string | undefined {
  const program = seccompProgram(process.arch);
  if (!program) return undefined;
  const file = join(scratch, controlFolder, "seccomp");
  writeFileSync(file, program, { mode: 0o600 });
  return file;
}

function unavailable(output: string): Failure {
  const text = "the sandbox (bubblewrap) could not be started; `lathe doctor` says why";
  return failure("sandbox-unavailable", text, { cause: output.trim() });
}
