/** A sandbox under test: fresh folders, and short ways to run commands in it. */
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import {
  type CommandResult,
  type Failure,
  isFailure,
  type Process,
  type RunOptions,
  type Sandbox,
  type SandboxDriver,
} from "@lathe/protocol";

/** A sandbox in fresh folders, and short ways to use it. */
export interface Bench {
  readonly sandbox: Sandbox;
  readonly workspace: string;
  exec(script: string, options?: Partial<RunOptions> & { readonly cwd?: string }): Promise<CommandResult>;
  refused(script: string, options?: Partial<RunOptions> & { readonly cwd?: string }): Promise<Failure>;
  spawn(script: string): Promise<Process>;
}

export type RegisterCase = (title: string, run: (bench: Bench) => Promise<void>) => void;

export async function openBench(driver: SandboxDriver, folder: string): Promise<Bench> {
  const [workspace, scratch] = [join(folder, "workspace"), join(folder, "scratch")];
  for (const made of [workspace, scratch]) mkdirSync(made, { recursive: true });
  const env = {
    PATH: "/usr/local/bin:/usr/bin:/bin",
    HOME: `${scratch}/home`,
    TMPDIR: `${scratch}/tmp`,
    LANG: "C.UTF-8",
  };
  const sandbox = await driver.open({ workspace, scratch, network: "none", env });
  if (isFailure(sandbox)) throw new Error(`${sandbox.text} (${sandbox.cause})`);
  const start: Bench["exec"] = async (script, options = {}) => {
    const { cwd = workspace, ...run } = options;
    return succeeded(await sandbox.exec({ script, cwd }, { timeoutMs: 15_000, ...run }));
  };
  return {
    sandbox,
    workspace,
    exec: start,
    refused: async (script, { cwd = workspace, ...run } = {}) => {
      const result = await sandbox.exec({ script, cwd }, { timeoutMs: 15_000, ...run });
      assert.ok(isFailure(result), "the command was not refused");
      return result;
    },
    spawn: async (script) => succeeded(await sandbox.spawn({ script, cwd: workspace })),
  };
}

function succeeded<T>(result: T | Failure): T {
  if (isFailure(result)) assert.fail(`${result.code}: ${result.text} (${result.cause})`);
  return result;
}

/** Waits until the condition holds; fails after ten seconds. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 10_000;
  while (!(await condition())) {
    assert.ok(Date.now() < deadline, "it did not come about in 10 s");
    await sleep(10);
  }
}
