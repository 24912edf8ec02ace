/**
 * The ways to run one command in a sandbox that `measure-sandboxes.ts` compares: Lathe's, and other makers'.
 */
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { isFailure, type Sandbox, type SandboxDriver, type SandboxSpec } from "@lathe/protocol";
import { commandEnv, probeDriver } from "@lathe/sandbox";

/** One way; it is measured round after round, alternating with all others. */
export interface Contender {
  readonly name: string;
  /** *Contract:* runs the command once, including start and end, and resolves to milliseconds. */
  readonly once: () => Promise<number>;
  /** If set, only some rounds include it. */
  readonly isSlow?: boolean;
  readonly close?: () => Promise<void>;
}

export interface Ground {
  /** A folder for this measurement only; removed afterwards. */
  readonly folder: string;
  readonly cacheFolder: string;
  /** The folder with other makers' packages. */
  readonly peers: string | undefined;
}

const script = "true";
const timeoutMs = 30_000;
let made = 0;

export function newSpec(folder: string): SandboxSpec {
  const base = mkdtempSync(join(folder, `box-${++made}-`));
  const [workspace, scratch] = [join(base, "workspace"), join(base, "scratch")];
  for (const path of [workspace, scratch]) mkdirSync(path);
  return { workspace, scratch, network: "none", env: commandEnv(process.env, scratch) };
}

export async function mustOpen(driver: SandboxDriver, spec: SandboxSpec): Promise<Sandbox> {
  const sandbox = await driver.open(spec);
  if (isFailure(sandbox)) throw new Error(sandbox.text, { cause: sandbox.cause });
  return sandbox;
}

export async function mustRun(sandbox: Sandbox): Promise<void> {
  const result = await sandbox.exec({ script, cwd: sandbox.spec.workspace }, { timeoutMs });
  if (isFailure(result)) throw new Error(result.text, { cause: result.cause });
  if (result.code !== 0) throw new Error(`the command ended with ${result.code}: ${result.output}`);
}

/** Lathe's driver, cold and warm; undefined if it does not work. */
export async function driverContenders(
  name: "launcher" | "bubblewrap",
  { folder, cacheFolder }: Ground,
): Promise<readonly Contender[]> {
  const { driver, reasons } = await probeDriver({
    preference: name,
    cacheFolder,
    path: process.env.PATH ?? "",
  });
  if (driver.name !== name) return missing(name, reasons.join(" "));
  const warm = await mustOpen(driver, newSpec(folder));
  const fresh = async (): Promise<number> => {
    const spec = newSpec(folder);
    const from = performance.now();
    const sandbox = await mustOpen(driver, spec);
    await mustRun(sandbox);
    const ms = performance.now() - from;
    await sandbox.close();
    return ms;
  };
  return [
    { name: `${name}, warm`, once: () => timed(() => mustRun(warm)), close: () => warm.close() },
    { name: `${name}, fresh`, once: fresh },
  ];
}

export function plainContender({ folder }: Ground): Contender {
  return { name: "plain spawn", once: () => ended("bash", ["-c", script], { cwd: folder }) };
}

/** The cost of bubblewrap itself with almost no work. */
export function bwrapContender({ folder }: Ground): readonly Contender[] {
  const bwrap = (process.env.PATH ?? "").split(":").find((path) => existsSync(join(path, "bwrap")));
  if (bwrap === undefined) return missing("bwrap", "bubblewrap is not installed");
  const args = "--ro-bind / / --dev /dev --proc /proc --unshare-all --die-with-parent bash -c".split(" ");
  const once = (): Promise<number> => ended(join(bwrap, "bwrap"), [...args, script], { cwd: folder });
  return [{ name: "bwrap, plain", once }];
}

export function codexContender({ folder, peers }: Ground): readonly Contender[] {
  const program = peers && join(peers, "node_modules/.bin/codex");
  if (!peers || !program || !existsSync(program))
    return missing("codex sandbox", "no @openai/codex in --peers");
  // It makes helpers in its home, but none below /tmp.
  const home = mkdtempSync(join(peers, "codex-home-"));
  const once = (): Promise<number> =>
    ended(program, ["sandbox", "--", "bash", "-c", script], {
      cwd: folder,
      env: { ...process.env, CODEX_HOME: home },
    });
  const close = async (): Promise<void> => rmSync(home, { recursive: true, force: true });
  return [{ name: "codex sandbox", once, isSlow: true, close }];
}

interface Manager {
  initialize(config: unknown): Promise<void>;
  wrapWithSandbox(command: string): Promise<string>;
  reset(): Promise<void>;
}

export async function runtimeContenders({ folder, peers }: Ground): Promise<readonly Contender[]> {
  const name = "sandbox-runtime";
  const found = peers && join(peers, "node_modules/@anthropic-ai/sandbox-runtime");
  if (!peers || !found || !existsSync(found))
    return missing(name, "no @anthropic-ai/sandbox-runtime in --peers");
  const module = await import(pathToFileURL(join(found, "dist/index.js")).href);
  const manager: Manager = module.SandboxManager;
  const filesystem = { denyRead: [], allowWrite: [folder], denyWrite: [] };
  try {
    await manager.initialize({ network: { allowedDomains: [], deniedDomains: [] }, filesystem });
  } catch (error) {
    return missing(name, String(error));
  }
  const library = async (): Promise<number> => {
    const from = performance.now();
    await ended(await manager.wrapWithSandbox(script), [], { cwd: folder, shell: true });
    return performance.now() - from;
  };
  const program = join(peers, "node_modules/.bin/srt");
  const command = (): Promise<number> => ended(program, ["bash", "-c", script], { cwd: folder });
  return [
    { name: `${name}, library`, once: library, isSlow: true, close: () => manager.reset() },
    { name: `${name}, command`, once: command, isSlow: true },
  ];
}

/** Reports a missing contender and measures the rest. */
function missing(name: string, why: string): readonly Contender[] {
  console.log(`left out: ${name}: ${why}`);
  return [];
}

async function timed(work: () => Promise<void>): Promise<number> {
  const from = performance.now();
  await work();
  return performance.now() - from;
}

interface Options {
  readonly cwd: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly shell?: boolean;
}

function ended(file: string, args: readonly string[], options: Options): Promise<number> {
  const from = performance.now();
  const child = spawn(file, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
  let errors = "";
  child.stderr.on("data", (chunk) => {
    errors += chunk;
  });
  child.stdout.resume();
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => {
      if (code === 0) resolve(performance.now() - from);
      else reject(new Error(`${file} ended with ${code}: ${errors}`));
    });
  });
}
