/** Finds the best driver of this machine by really running a command, and writes that must fail. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isFailure, type SandboxDriver, type Tier } from "@lathe/protocol";
import { createBubblewrapDriver } from "./bubblewrap-driver.ts";
import { createNoneDriver } from "./none-driver.ts";
import type { DriverOptions } from "./process-sandbox.ts";
import { findProgram } from "./shell.ts";

export interface ProbeOptions extends DriverOptions {
  /** The driver to use even though a better one may work. */
  readonly preference?: "auto" | "bubblewrap" | "none";
  /** Where to look for programs. */
  readonly path?: string;
  /** A folder to remember the finding in, until the next boot or another binary. */
  readonly cacheFolder?: string;
}

/** What became of one driver. */
export interface TierReport {
  readonly name: string;
  readonly tier: Tier;
  readonly works: boolean;
  /** Why not, in one sentence. */
  readonly why?: string;
  /** How to get it, in one sentence. */
  readonly remedy?: string;
}

export interface Probe {
  readonly driver: SandboxDriver;
  /** Why no better driver was chosen, one sentence each; empty when the best one works. */
  readonly reasons: readonly string[];
  /** Every driver that was looked at, the best first. */
  readonly tiers: readonly TierReport[];
}

const usualPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/run/current-system/sw/bin";
const none: TierReport = { name: "none", tier: "none", works: true };

/** *Contract:* never rejects; a driver that does not work is never chosen, and never left out in silence. */
export async function probeDriver(options: ProbeOptions = {}): Promise<Probe> {
  const { preference = "auto", path = usualPath, cacheFolder, ...driverOptions } = options;
  const withNone = (tiers: readonly TierReport[], reasons: readonly string[]): Probe => {
    return { driver: createNoneDriver(driverOptions), reasons, tiers };
  };
  if (preference === "none") return withNone([none], ["you chose to run without a sandbox."]);
  const binary = process.platform === "linux" ? findProgram("bwrap", path) : undefined;
  const report = binary === undefined ? missing() : await remembered(binary, cacheFolder);
  const tiers = [report, none];
  if (binary === undefined || !report.works) return withNone(tiers, [`${report.why} ${report.remedy}`]);
  return { driver: createBubblewrapDriver({ ...driverOptions, binary }), reasons: [], tiers };
}

function missing(): TierReport {
  if (process.platform !== "linux") {
    const why = `There is no sandbox for ${process.platform} yet.`;
    return broken(why, "Run Lathe in a Linux container or virtual machine to contain commands.");
  }
  return broken("bubblewrap (bwrap) is not installed.", `Install it: ${installer()}.`);
}

function installer(): string {
  if (existsSync("/usr/bin/apt-get")) return "`sudo apt-get install bubblewrap`";
  if (existsSync("/usr/bin/dnf")) return "`sudo dnf install bubblewrap`";
  if (existsSync("/sbin/apk")) return "`apk add bubblewrap`";
  return "the package is called bubblewrap";
}

function broken(why: string, remedy: string): TierReport {
  return { name: "bubblewrap", tier: "full", works: false, why, remedy };
}

async function remembered(binary: string, folder: string | undefined): Promise<TierReport> {
  const key = `${bootId()} ${binary} ${statSync(binary).mtimeMs} ${process.getuid?.()}`;
  const file = folder === undefined ? undefined : join(folder, "sandbox-probe.json");
  const known = file === undefined ? undefined : readReport(file, key);
  if (known) return known;
  const report = await tryBubblewrap(binary);
  if (file !== undefined && folder !== undefined && report.works) writeReport(file, { key, report });
  return report;
}

function readReport(file: string, key: string): TierReport | undefined {
  try {
    const found = JSON.parse(readFileSync(file, "utf8"));
    return found.key === key
      ? { name: "bubblewrap", tier: "full", works: found.report.works === true }
      : undefined;
  } catch {
    return undefined;
  }
}

function writeReport(file: string, found: { readonly key: string; readonly report: TierReport }): void {
  try {
    mkdirSync(join(file, ".."), { recursive: true });
    writeFileSync(file, JSON.stringify(found));
  } catch {
    // Not remembered: it is looked at again the next time.
  }
}

function bootId(): string {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  } catch {
    return "";
  }
}

/** One command that must work inside, with writes that must not. */
async function tryBubblewrap(binary: string): Promise<TierReport> {
  let folder: string | undefined;
  try {
    folder = realpathSync(mkdtempSync(join(tmpdir(), "lathe-probe-")));
    return await tryIn(folder, binary);
  } catch (error) {
    return broken("The sandbox could not be tried.", `Make ${tmpdir()} writable: ${String(error)}.`);
  } finally {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  }
}

async function tryIn(folder: string, binary: string): Promise<TierReport> {
  const [workspace, scratch, outside] = ["workspace", "scratch", "outside"].map((name) =>
    join(folder, name),
  ) as [string, string, string];
  for (const made of [workspace, scratch, outside]) mkdirSync(made);
  const driver = createBubblewrapDriver({ binary });
  const sandbox = await driver.open({ workspace, scratch, network: "none", env: { PATH: "/usr/bin:/bin" } });
  if (isFailure(sandbox)) return broken(`${sandbox.text}.`, "See `lathe doctor`.");
  // Only the probe's own folder is really written to: where nothing holds, nothing else may be harmed.
  const forbidden = `echo x > ${outside}/x; test -w /usr -o -w /proc/sys/kernel/core_pattern && echo weak`;
  const script = `echo x > written && echo works; (${forbidden}) 2>/dev/null; true`;
  const result = await sandbox.exec({ script, cwd: workspace }, { timeoutMs: 5000 });
  await sandbox.close();
  if (isFailure(result)) return broken(`bubblewrap does not work here: ${firstLine(result.cause)}`, remedy());
  const isHeld = !existsSync(join(outside, "x")) && !result.output.includes("weak");
  if (!isHeld)
    return broken(
      "bubblewrap runs here but does not hold writes in.",
      "Please report it with `lathe doctor`.",
    );
  if (result.output !== "works\n")
    return broken(`Commands fail inside bubblewrap: ${firstLine(result.output)}`, remedy());
  return { name: "bubblewrap", tier: "full", works: true };
}

function firstLine(text: string | undefined): string {
  return `${(text ?? "no message").split("\n")[0]?.replace(/\.$/u, "")}.`;
}

/** The usual causes, each with what mends it. */
function remedy(): string {
  if (readNumber("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") === 1) {
    return "Ubuntu restricts user namespaces: add an AppArmor profile for bwrap, or `sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0`.";
  }
  if (readNumber("/proc/sys/kernel/unprivileged_userns_clone") === 0) {
    return "Allow user namespaces: `sudo sysctl kernel.unprivileged_userns_clone=1`.";
  }
  if (readNumber("/proc/sys/user/max_user_namespaces") === 0) {
    return "Allow user namespaces: `sudo sysctl user.max_user_namespaces=10000`.";
  }
  if (existsSync("/.dockerenv") || existsSync("/run/.containerenv")) {
    return "This container forbids namespaces: start it with `--security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined`.";
  }
  return "Check that `bwrap --unshare-all --ro-bind / / --proc /proc true` works.";
}

function readNumber(path: string): number | undefined {
  try {
    return Number(readFileSync(path, "utf8"));
  } catch {
    return undefined;
  }
}
