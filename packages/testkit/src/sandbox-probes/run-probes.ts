/** Runs probes on a driver, one at a time, each on a fresh ground, and judges them by host observations. */
import { accessSync, closeSync, constants, existsSync, mkdirSync, openSync } from "node:fs";
import { constants as os } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import {
  type Command,
  type CommandResult,
  type Failure,
  failure,
  isFailure,
  type Sandbox,
  type SandboxDriver,
  type SandboxSpec,
} from "@lathe/protocol";
import { bareDriverName } from "./bare-driver.ts";
import { closeGround, type Ground, type Inheritance, openGround } from "./ground.ts";
import { findBreaches, takeSnapshot } from "./observe.ts";
import type { EscapeProbe, Facts, Need, Probe, ProbeResult, Step, WorkProbe } from "./probe.ts";

export interface RunProbesOptions {
  readonly probes: readonly Probe[];
  /** A folder for this run that its user may write to. */
  readonly folder: string;
  /** The environment of commands, like a session's. */
  readonly env: (scratch: string) => Readonly<Record<string, string>>;
  /** The harness's PATH, to find the tools that probes need. */
  readonly path: string;
  readonly inheritance?: Inheritance | undefined;
  /** Timeout of one command, unless the probe sets one. */
  readonly timeoutMs?: number;
  readonly onResult?: (result: ProbeResult) => void;
}

/** The home that contains the probes' secrets; pass it to drivers when they are created. */
export function probeHome(folder: string): string {
  return join(folder, "home");
}

/**
 * *Contract:* never throws because of a probe or the driver; runs one at a time, since grounds share the
 * machine.
 */
export async function runProbes(
  driver: SandboxDriver,
  options: RunProbesOptions,
): Promise<readonly ProbeResult[]> {
  const results: ProbeResult[] = [];
  for (const probe of options.probes) {
    const began = performance.now();
    const verdict = await runOne(driver, probe, options).catch((error: unknown) => ({
      outcome: "broken" as const,
      why: String(error instanceof Error ? error.stack : error),
    }));
    const { id, group, kind } = probe;
    const isGrave = probe.kind === "escape" && probe.isGrave;
    const result = { id, group, kind, isGrave, ...verdict, ms: Math.round(performance.now() - began) };
    results.push(result);
    options.onResult?.(result);
  }
  return results;
}

type Verdict = Pick<ProbeResult, "outcome" | "why">;

async function runOne(driver: SandboxDriver, probe: Probe, options: RunProbesOptions): Promise<Verdict> {
  const harm = driver.name === bareDriverName && probe.kind === "escape" ? probe.noControl : undefined;
  if (harm !== undefined) return { outcome: "skipped", why: `never without a sandbox: ${harm}` };
  const missing = (probe.tools ?? []).filter((tool) => !isFound(tool, options.path));
  if (missing.length > 0) return { outcome: "skipped", why: `${missing.join(", ")} missing on this machine` };
  mkdirSync(options.folder, { recursive: true });
  const name = probe.kind === "work" ? probe.workspaceName : undefined;
  const { folder: base, inheritance } = options;
  const ground = await openGround({ base, inheritance, ...(name === undefined ? {} : { name }) });
  try {
    const lacks = (probe.needs ?? []).filter((need) => !isMet(need, ground, driver));
    if (lacks.length > 0) return { outcome: "skipped", why: `only with ${lacks.join(", ")}` };
    try {
      return await runOnGround(driver, ground, { probe, options });
    } finally {
      probe.restore?.(ground);
    }
  } finally {
    await closeGround(ground);
  }
}

interface Run {
  readonly probe: Probe;
  readonly options: RunProbesOptions;
}

async function runOnGround(driver: SandboxDriver, ground: Ground, { probe, options }: Run): Promise<Verdict> {
  probe.setup?.(ground);
  const spec: SandboxSpec = {
    workspace: ground.workspace,
    scratch: ground.scratch,
    network: "none",
    env: options.env(ground.scratch),
    ...(probe.kind === "work" ? probe.spec?.(ground) : {}),
  };
  const before = takeSnapshot(ground, probe.writable?.(ground));
  const sandbox = await driver.open(spec);
  if (isFailure(sandbox)) return notStarted(probe, sandbox);
  try {
    const facts = await gather(probe, { ground, sandbox, before }, options.timeoutMs ?? 20_000);
    return probe.kind === "work" ? judgeWork(probe, facts) : await judgeEscape(probe, facts);
  } finally {
    await sandbox.close();
  }
}

function notStarted(probe: Probe, { text, cause }: Failure): Verdict {
  const why = `the sandbox did not open: ${text} ${cause ?? ""}`;
  return { outcome: probe.kind === "work" ? "failed" : "broken", why };
}

interface Scene {
  readonly ground: Ground;
  readonly sandbox: Sandbox;
  readonly before: ReadonlyMap<string, string>;
}

async function gather(probe: Probe, { ground, sandbox, before }: Scene, timeoutMs: number): Promise<Facts> {
  const given = typeof probe.steps === "string" ? probe.steps : probe.steps(ground);
  const steps: readonly Step[] = typeof given === "string" ? [{ script: given }] : given;
  const results: (CommandResult | Failure)[] = [];
  for (const step of steps) {
    const script = `${toolCheck(probe.tools ?? [])}${step.script}`;
    const cwd = resolve(sandbox.spec.workspace, step.cwd ?? "");
    const command = { script, cwd };
    if (step.background === undefined) {
      results.push(await sandbox.exec(command, { timeoutMs: step.timeoutMs ?? timeoutMs }));
    } else {
      const wrong = await startAndWait(sandbox, command, step.background);
      if (wrong !== undefined) results.push(wrong);
    }
  }
  const output = results.map((result) => (isFailure(result) ? `[${result.text}]` : result.output)).join("");
  const breaches = findBreaches(
    ground,
    { before, now: takeSnapshot(ground, probe.writable?.(ground)) },
    output,
  );
  const ran = runPlanted(probe, ground) ? ["planted code ran on the host"] : [];
  return { ground, sandbox, results, output, breaches: [...ran, ...breaches] };
}

/** Fails unless the process writes the words within ten seconds. */
async function startAndWait(sandbox: Sandbox, command: Command, words: string): Promise<Failure | undefined> {
  const started = await sandbox.spawn(command);
  if (isFailure(started)) return started;
  for (const deadline = Date.now() + 10_000; Date.now() < deadline && started.exit === undefined; ) {
    if ((await started.read(0, 10_000)).text.includes(words)) return undefined;
    await sleep(10);
  }
  const { text } = await started.read(0, 10_000);
  return text.includes(words)
    ? undefined
    : failure("command-timeout", `the background command did not say ${words}: ${text}`);
}

/** The user continues to work on the host, which may start files that a command left behind. */
function runPlanted(probe: Probe, ground: Ground): boolean {
  if (probe.kind !== "escape" || probe.afterwards === undefined) return false;
  probe.afterwards(ground);
  return existsSync(join(ground.outside, "executed"));
}

const toolMissing = "NO-TOOL:";

/** A tool that exists on the host but not inside would make an escape look contained. */
function toolCheck(tools: readonly string[]): string {
  if (tools.length === 0) return "";
  return `for tool in ${tools.join(" ")}; do command -v $tool >/dev/null || { echo "${toolMissing} $tool"; exit 96; }; done\n`;
}

async function judgeEscape(probe: EscapeProbe, facts: Facts): Promise<Verdict> {
  const own = await probe.escaped?.(facts);
  const seen = [...(own === undefined ? [] : [own]), ...facts.breaches];
  if (probe.escapedAfterClose !== undefined) {
    await facts.sandbox.close();
    const late = probe.escapedAfterClose(facts.ground);
    if (late !== undefined) seen.push(late);
  }
  if (seen.length > 0) return { outcome: "escaped", why: seen.slice(0, 4).join("; ") };
  if (facts.output.includes(toolMissing))
    return { outcome: "skipped", why: `inside: ${firstLine(facts.output)}` };
  const harness = facts.results.find(isFailure);
  if (harness !== undefined && facts.results.length === 1) {
    return { outcome: "broken", why: `the command did not start: ${harness.cause ?? harness.text}` };
  }
  return { outcome: "contained", why: lastLine(facts.output) };
}

function judgeWork(probe: WorkProbe, facts: Facts): Verdict {
  const wrong = facts.results.map((result, at) => wrongEnd(result, probe.codes?.[at] ?? 0)).find(Boolean);
  const why = wrong ?? probe.broken?.(facts) ?? wrongText(probe, facts.output) ?? facts.breaches[0];
  if (why === undefined) return { outcome: "worked", why: "" };
  return { outcome: "failed", why: `${why}: ${facts.output.slice(-600).trim()}` };
}

const { signals } = os;

function wrongEnd(result: CommandResult | Failure, code: number): string | undefined {
  if (isFailure(result)) return `${result.code} ${result.cause ?? ""}`;
  if (result.timedOut) return "it ran out of time";
  const signal = result.signal as keyof typeof signals | undefined;
  if ((result.code ?? 128 + (signal === undefined ? 0 : signals[signal])) === code) return undefined;
  return `it ended with ${result.code ?? result.signal}`;
}

function wrongText({ says }: WorkProbe, output: string): string | undefined {
  if (says === undefined) return undefined;
  const isSaid = typeof says === "string" ? output.includes(says) : says.test(output);
  return isSaid ? undefined : `it did not say ${says}`;
}

const firstLine = (text: string): string => text.trim().split("\n", 1)[0] ?? "";
const lastLine = (text: string): string =>
  (text.trim().split("\n").at(-1) ?? "").slice(0, 160).replaceAll(/\p{Cc}/gu, "?");

function isFound(tool: string, path: string): boolean {
  return path.split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, tool), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

function isMet(need: Need, ground: Ground, driver: SandboxDriver): boolean {
  switch (need) {
    case "shared-loopback":
      return driver.hasSeparateNetworks !== true;
    case "root":
      return process.getuid?.() === 0;
    case "ordinary-user":
      return process.getuid?.() !== 0;
    case "terminal":
      return ground.inheritance !== undefined && canOpen("/dev/tty");
    case "inherited":
      return ground.inheritance !== undefined;
    case "x64":
      return process.arch === "x64";
    case "ipv6":
      return ground.listeners.hasIpv6;
    case "second-address":
      return ground.listeners.address !== undefined;
  }
}

function canOpen(path: string): boolean {
  try {
    closeSync(openSync(path, "w"));
    return true;
  } catch {
    return false;
  }
}
