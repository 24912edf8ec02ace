/** Runs commands without any sandbox: the control that shows that an escape probe can succeed. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import {
  type CommandResult,
  failure,
  type Sandbox,
  type SandboxDriver,
  type SandboxSpec,
} from "@lathe/protocol";

/** With this driver the runner skips probes that would harm the machine. */
export const bareDriverName = "bare";

/** Contains nothing and ends only the shell; use it only on disposable grounds. */
export function createBareDriver(hostEnv: NodeJS.ProcessEnv): SandboxDriver {
  return {
    name: bareDriverName,
    tier: "none",
    network: "open",
    open: async (spec) => bareSandbox(spec, hostEnv),
  };
}

function bareSandbox(spec: SandboxSpec, hostEnv: NodeJS.ProcessEnv): Sandbox {
  for (const folder of ["home", "tmp"]) mkdirSync(`${spec.scratch}/${folder}`, { recursive: true });
  const running = new Set<ChildProcess>();
  const gone = failure("sandbox-unavailable", "A bare sandbox only runs commands to their end.");
  return {
    spec,
    spawn: async () => gone,
    find: async (path) => failure("not-found", `${path} does not exist.`),
    processes: () => [],
    exec: (command, { timeoutMs }) => {
      const child = spawn("bash", ["-c", command.script], {
        cwd: command.cwd,
        env: { ...hostEnv, ...spec.env },
        stdio: ["ignore", "pipe", "pipe"],
      });
      running.add(child);
      return finished(child, timeoutMs).finally(() => running.delete(child));
    },
    close: async () => {
      for (const child of running) child.kill("SIGKILL");
    },
  };
}

function finished(child: ChildProcess, timeoutMs: number): Promise<CommandResult> {
  const began = performance.now();
  let output = "";
  let bytes = 0;
  let timedOut = false;
  const take = (chunk: Buffer): void => {
    bytes += chunk.length;
    if (output.length < 100_000_000) output += chunk.toString("utf8");
  };
  child.stdout?.on("data", take);
  child.stderr?.on("data", take);
  const timer = setTimeout(() => {
    timedOut = true;
    child.kill("SIGKILL");
  }, timeoutMs);
  return new Promise((resolve) => {
    // Not `close`: a daemon that keeps the pipes open would delay it.
    child.once("exit", (code, signal) => {
      clearTimeout(timer);
      setTimeout(() => {
        child.stdout?.destroy();
        child.stderr?.destroy();
        const ended = code !== null ? { code } : { signal: signal ?? "SIGKILL" };
        resolve({ ...ended, timedOut, output, bytes, ms: performance.now() - began });
      }, 20);
    });
  });
}
