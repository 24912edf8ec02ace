/**
 * Measures the cost of sandboxes, next to plain processes and other makers' sandboxes, in one run: `node
 * e2e/measure-sandboxes.ts [--rounds N] [--burst N] [--at-once N] [--peers FOLDER]`. FOLDER has `npm install
 * @openai/codex @anthropic-ai/sandbox-runtime` and is outside /tmp.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import type { SandboxDriver } from "@lathe/protocol";
import { probeDriver } from "@lathe/sandbox";
import {
  bwrapContender,
  type Contender,
  codexContender,
  driverContenders,
  type Ground,
  mustOpen,
  mustRun,
  newSpec,
  plainContender,
  runtimeContenders,
} from "./sandbox-contenders.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "200" },
    burst: { type: "string", default: "1000" },
    "at-once": { type: "string", default: "16" },
    peers: { type: "string" },
    first: { type: "boolean", default: false },
  },
});
const folder = realpathSync(mkdtempSync(join(tmpdir(), "lathe-measure-")));
const cacheFolder = join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "lathe");
const ground: Ground = { folder, cacheFolder, peers: values.peers };
/** Slow contenders run in one of so many rounds, before the others, so that they are warm too. */
const slowEvery = 10;
const warmUps = 10;
const idle = 50;
const settleMs = 1_500;
/**
 * The file system keeps deleted entries for so long and is slow meanwhile: see `recently_deleted` of ext4.
 */
const deletedMs = 6_000;

type Row = readonly [name: string, ...figures: readonly string[]];

function quantile(sorted: readonly number[], part: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}

function print(rows: readonly Row[]): void {
  const widths = rows[0]?.map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0))) ?? [];
  for (const row of rows) {
    const cells = row.map((cell, at) =>
      at === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[at] ?? 0),
    );
    console.log(cells.join("   "));
  }
  console.log("");
}

/** Runs round after round, so that other load on the machine affects all contenders alike. */
async function rounds(contenders: readonly Contender[], count: number): Promise<void> {
  const times = new Map<Contender, number[]>(contenders.map((one) => [one, []]));
  for (let round = -warmUps; round < count; round++) {
    for (const one of contenders) {
      if (one.isSlow && round % slowEvery !== 0) continue;
      const ms = await one.once();
      if (round >= 0) times.get(one)?.push(ms);
    }
  }
  const sorted = contenders.map((one) => (times.get(one) ?? []).toSorted((a, b) => a - b));
  const plain = quantile(sorted[0] ?? [], 0.5);
  const row = (one: Contender, ms: readonly number[]): Row => {
    const p50 = quantile(ms, 0.5);
    const figures = [ms[0] ?? Number.NaN, p50, quantile(ms, 0.95)].map((figure) => figure.toFixed(2));
    return [one.name, ...figures, `${(p50 / plain).toFixed(2)}x`, String(ms.length)];
  };
  print([
    ["ms for `bash -c true`", "min", "p50", "p95", "of plain", "times"],
    ...contenders.map((one, at) => row(one, sorted[at] ?? [])),
  ]);
}

/** Busy milliseconds of all processors since the machine started. */
function busyMs(): number {
  const fields = readFileSync("/proc/stat", "utf8").split("\n")[0]?.split(/ +/u).slice(1).map(Number) ?? [];
  const [user = 0, nice = 0, system = 0, , , irq = 0, soft = 0] = fields;
  return (user + nice + system + irq + soft) * 10;
}

/** Runs one contender many times, some at once: total milliseconds, p50, p99, and CPU time each. */
async function burstOf(name: string, count: number, once: () => Promise<number>): Promise<Row> {
  let left = count;
  const times: number[] = [];
  const worker = async (): Promise<void> => {
    while (left-- > 0) times.push(await once());
  };
  await sleep(deletedMs);
  const [busy, own, from] = [busyMs(), process.cpuUsage(), performance.now()];
  await Promise.all(Array.from({ length: Number(values["at-once"]) }, worker));
  const total = performance.now() - from;
  const { user, system } = process.cpuUsage(own);
  await sleep(settleMs);
  const machine = (busyMs() - busy) / count;
  times.sort((a, b) => a - b);
  return [
    name,
    total.toFixed(0),
    quantile(times, 0.5).toFixed(1),
    quantile(times, 0.99).toFixed(1),
    machine.toFixed(2),
    ((user + system) / 1000 / count).toFixed(2),
  ];
}

/** Includes plain processes, since no sandbox can be faster than the command it runs. */
async function bursts(driver: SandboxDriver, count: number): Promise<void> {
  const specs = Array.from({ length: count }, () => newSpec(folder));
  const startToEnd = async (): Promise<number> => {
    const from = performance.now();
    const sandbox = await mustOpen(driver, specs.pop() ?? newSpec(folder));
    await mustRun(sandbox);
    await sandbox.close();
    return performance.now() - from;
  };
  const plain = await burstOf("plain spawn", count, plainContender(ground).once);
  const boxes = await burstOf("launcher, start to end", count, startToEnd);
  const times = Number(boxes[1]) / Number(plain[1]);
  print([
    [
      `${count}, ${values["at-once"]} at once`,
      "ms in all",
      "p50",
      "p99",
      "CPU ms each",
      "of it Node's",
      "of plain",
    ],
    [...plain, "1.00x"],
    [...boxes, `${times.toFixed(2)}x`],
  ]);
}

/** The memory of all processes below this one, in KiB: by then only the launcher's are left. */
function held(): { readonly shared: number; readonly own: number; readonly count: number } {
  let [shared, own, count] = [0, 0, 0];
  for (const pid of below(String(process.pid))) {
    try {
      const text = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
      const sum = (pattern: RegExp): number =>
        [...text.matchAll(pattern)].reduce((all, [, kib]) => all + Number(kib), 0);
      shared += sum(/^Pss:\s+(\d+)/gmu);
      own += sum(/^Private_(?:Clean|Dirty):\s+(\d+)/gmu);
      count += 1;
    } catch {
      // The process has ended.
    }
  }
  return { shared, own, count };
}

function below(pid: string): readonly string[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
  return children.filter((child) => child !== "").flatMap((child) => [child, ...below(child)]);
}

async function memory(driver: SandboxDriver): Promise<void> {
  const sandboxes = await Promise.all(Array.from({ length: idle }, () => mustOpen(driver, newSpec(folder))));
  for (const sandbox of sandboxes) await mustRun(sandbox);
  await sleep(settleMs);
  const { shared, own, count } = held();
  const each = (kib: number): string => (kib / 1024 / idle).toFixed(3);
  print([
    [`${idle} idle sandboxes`, "PSS MiB each", "private MiB each", "processes"],
    ["launcher", each(shared), each(own), String(count)],
  ]);
  await Promise.all(sandboxes.map((sandbox) => sandbox.close()));
}

/** Runs in a process of its own, and prints the time of its first sandbox. */
async function sayFirst(driver: SandboxDriver): Promise<void> {
  const spec = newSpec(folder);
  const from = performance.now();
  const sandbox = await mustOpen(driver, spec);
  await mustRun(sandbox);
  console.log(performance.now() - from);
  await sandbox.close();
}

function firsts(): void {
  const own = fileURLToPath(import.meta.url);
  const start = (): number =>
    Number(spawnSync(process.execPath, [own, "--first"], { encoding: "utf8" }).stdout);
  const times = Array.from({ length: 15 }, start).toSorted((a, b) => a - b);
  const figures = [times[0] ?? Number.NaN, quantile(times, 0.5)].map((ms) => ms.toFixed(2));
  print([
    ["the first sandbox of a process", "min", "p50"],
    ["launcher", ...figures],
  ]);
}

async function compare(driver: SandboxDriver): Promise<void> {
  const contenders = [
    plainContender(ground),
    ...(await driverContenders("launcher", ground)),
    ...(await driverContenders("bubblewrap", ground)),
    ...bwrapContender(ground),
    ...codexContender(ground),
    ...(await runtimeContenders(ground)),
  ];
  await rounds(contenders, Number(values.rounds));
  for (const { close } of contenders) await close?.();
  if (driver.name !== "launcher") return;
  firsts();
  await bursts(driver, Number(values.burst));
  await memory(driver);
}

try {
  const { driver } = await probeDriver({ preference: "launcher", cacheFolder });
  await (values.first ? sayFirst(driver) : compare(driver));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
