/**
 * Measures the cost of a fork beyond a fresh sandbox, in one run: `node e2e/show-fork-speed.ts [ROUNDS]
 * [FILES]`.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { enterArgs } from "@lathe/overlays";
import { dropFork, type Fork, makeFork } from "@lathe/overlays/fork";
import { isFailure, type SandboxDriver } from "@lathe/protocol";
import { createLauncherDriver, nativeBinary } from "@lathe/sandbox";

const [rounds = 200, files = 10_000] = process.argv.slice(2).map(Number);
const folder = realpathSync(mkdtempSync(join(tmpdir(), "lathe-measure-")));

function makeWorkspace(): string {
  const workspace = join(folder, "workspace");
  for (let at = 0; at < files; at++) {
    const place = join(workspace, `d${at % 100}`);
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, `f${at}`), `file ${at}\n`);
  }
  return workspace;
}

/** Milliseconds from the start to the end of its first command. */
async function timeSandbox(
  driver: SandboxDriver,
  workspace: string,
  makes?: (id: string) => Fork,
): Promise<number> {
  const scratch = mkdtempSync(join(folder, "scratch-"));
  const from = performance.now();
  const fork = makes?.(`fork-${from}`);
  const env = { PATH: "/usr/bin:/bin" };
  const sandbox = await driver.open({ workspace, scratch, network: "none", env, ...(fork && { fork }) });
  if (isFailure(sandbox)) throw new Error(sandbox.text);
  const result = await sandbox.exec({ script: "true", cwd: workspace }, { timeoutMs: 10_000 });
  const ms = performance.now() - from;
  if (isFailure(result) || result.code !== 0) throw new Error(JSON.stringify(result));
  await sandbox.close();
  if (fork) dropFork(fork);
  rmSync(scratch, { recursive: true });
  return ms;
}

function timeProcess(words: readonly [string, ...string[]]): number {
  const [file, ...args] = words;
  const from = performance.now();
  execFileSync(file, args, { stdio: "ignore" });
  return performance.now() - from;
}

function quantile(times: readonly number[], part: number): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length * part)] ?? 0;
}

async function main(): Promise<void> {
  const found = await nativeBinary({ cacheFolder: join(folder, "cache"), path: process.env.PATH ?? "" });
  if (!("binary" in found)) throw new Error(found.why);
  const { binary } = found;
  const workspace = makeWorkspace();
  // Without a fork, a sandbox's first command scans the workspace; an empty folder avoids that.
  const empty = join(folder, "empty");
  mkdirSync(empty);
  const newFork = (id: string): Fork => makeFork(workspace, { folder: join(folder, "forks"), id, about: "" });
  const times: Record<string, readonly number[]> = {};
  const note = (name: string, ms: number): void => {
    times[name] = [...(times[name] ?? []), ms];
  };
  for (let round = 0; round < rounds; round++) {
    // A driver each, since a driver keeps agents ready for the next sandbox.
    const options = { binary, cacheFolder: join(folder, "cache") };
    note("fresh sandbox", await timeSandbox(createLauncherDriver(options), empty));
    note("fresh sandbox, all files", await timeSandbox(createLauncherDriver(options), workspace));
    note("fresh sandbox on a fork", await timeSandbox(createLauncherDriver(options), workspace, newFork));
    note("plain process", timeProcess(["/bin/true"]));
    const fork = newFork(`enter-${round}`);
    note(
      "process in a fork",
      timeProcess(enterArgs(fork, { binary, cwd: workspace, program: ["/bin/true"] })),
    );
    dropFork(fork);
    // The driver prepares forks ahead while it is idle.
    await sleep(40);
  }
  process.stdout.write(`${rounds} rounds, ${files} files; ms\n`);
  for (const [name, all] of Object.entries(times)) {
    const figures = [0.1, 0.5, 0.95].map((part) => quantile(all, part).toFixed(2));
    process.stdout.write(`${name.padEnd(26)} p10 ${figures[0]}  p50 ${figures[1]}  p95 ${figures[2]}\n`);
  }
  const p50 = (name: string): number => quantile(times[name] ?? [], 0.5);
  const beyond = p50("fresh sandbox on a fork") - p50("fresh sandbox");
  const ratio = p50("fresh sandbox on a fork") / p50("fresh sandbox");
  process.stdout.write(
    `a fork costs ${beyond.toFixed(2)} ms beyond a fresh sandbox (${ratio.toFixed(2)}x); bar 1.00\n`,
  );
}

try {
  await main();
} finally {
  rmSync(folder, { recursive: true, force: true });
}
