/**
 * The benchmark of the ranked search's index: `node bench/index/run.ts --root DIR [--queries N]`. It indexes
 * a tree from scratch in its own process under the command's flags, and asks each query once, under the
 * default rules on reading. Then it opens the index again from the cache, and prints times and memory peaks.
 * The first queries are reported separately: watching starts and code is still cold. It changes nothing in
 * DIR.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { availableParallelism, loadavg, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { openCodeSearch } from "@lathe/hosts/tools";
import { isFailure } from "@lathe/protocol";
import { createSearch } from "@lathe/search";
import { definitionsOf, lineStarts } from "@lathe/search/definitions";
import { languageOf } from "@lathe/search/languages";
import { launcherFlags } from "../../scripts/launcher-flags.mjs";

const { values } = parseArgs({
  options: {
    root: { type: "string" },
    queries: { type: "string", default: "300" },
    cache: { type: "string" },
    inside: { type: "boolean", default: false },
  },
});
const firstQueries = 20;
const root = resolve(values.root ?? ".");
const never = new AbortController().signal;

interface Measured {
  readonly opened: number;
  /** CPU seconds until then. */
  readonly worked: number;
  readonly queries: readonly number[];
  /** Megabytes: the peak overall, after the build, and at the end. */
  readonly peakOfBuild: number;
  readonly peak: number;
  readonly resident: number;
}

/** The memory of the whole process, in megabytes; Linux only. */
function memory(what: "VmHWM" | "VmRSS"): number {
  const found = new RegExp(`${what}:\\s+(\\d+) kB`).exec(readFileSync("/proc/self/status", "utf8"))?.[1];
  return Number(found) / 1024;
}

/** Names defined in the tree with words of their comments, spread over its files. */
async function madeQueries(count: number): Promise<readonly string[]> {
  const listed = await createSearch({ root }).files({ limit: 1_000_000 }, never);
  if (isFailure(listed)) throw new Error(listed.text);
  const step = Math.max(1, Math.floor(listed.paths.length / count / 2));
  const found: string[] = [];
  for (let at = 0; at < listed.paths.length && found.length < count; at += step) {
    const path = listed.paths[at] as string;
    const text = readFileSync(join(root, path), "latin1").slice(0, 500_000);
    const starts = lineStarts(text);
    const definitions = definitionsOf(text, starts, languageOf(path)).filter(({ line }) => line > 2);
    const one = definitions[Math.floor(definitions.length / 2)];
    // Go has names that consist only of an underscore.
    if (!one || !/[A-Za-z]/.test(one.name)) continue;
    const above = text.slice(starts[one.line - 3], starts[one.line]).match(/[A-Za-z]{3,}/g) ?? [];
    found.push(
      found.length % 3 === 0 ? one.name : [...above.slice(-6), one.name.replaceAll("_", " ")].join(" "),
    );
  }
  return found;
}

async function measured(folder: string): Promise<Measured> {
  const queries = JSON.parse(readFileSync(join(folder, "queries.json"), "utf8")) as readonly string[];
  const began = performance.now();
  const env = { ...process.env, XDG_CACHE_HOME: folder };
  const opened = await openCodeSearch(root, env, { patienceMs: 600_000, isOneShot: false });
  if (isFailure(opened)) throw new Error(opened.text);
  const { search, exclude } = opened;
  const ask = async (query: string): Promise<number> => {
    const start = performance.now();
    const answer = await search.rank({ query, k: 10, exclude }, never);
    if (isFailure(answer) || answer.partial) throw new Error(`no answer to ${query}`);
    return performance.now() - start;
  };
  await ask("where are files opened");
  const answered = performance.now() - began;
  const { user, system } = process.cpuUsage();
  const worked = (user + system) / 1e6;
  const peakOfBuild = memory("VmHWM");
  const times: number[] = [];
  for (const query of queries) times.push(await ask(query));
  return {
    opened: answered,
    worked,
    queries: times,
    peakOfBuild,
    peak: memory("VmHWM"),
    resident: memory("VmRSS"),
  };
}

function inside(folder: string): Measured {
  const args = [...launcherFlags(), import.meta.filename, "--root", root, "--inside", "--cache", folder];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8" })) as Measured;
}

function at(times: readonly number[], part: number): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length * part)] ?? Number.NaN;
}

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "lathe-index-bench-"));
  const { writeFileSync } = await import("node:fs");
  writeFileSync(join(folder, "queries.json"), JSON.stringify(await madeQueries(Number(values.queries))));
  console.log(`${availableParallelism()} cores, load ${loadavg()[0]?.toFixed(1)}`);
  for (const kind of ["from nothing", "from the cache"]) {
    const { opened, worked, queries, peakOfBuild, peak, resident } = inside(folder);
    const times = [queries.slice(0, firstQueries), queries.slice(firstQueries)]
      .map((some) => `${at(some, 0.5).toFixed(1)} / ${at(some, 0.95).toFixed(1)} ms`)
      .join(", then ");
    console.log(
      `${kind}: first answer after ${(opened / 1000).toFixed(2)} s (${worked.toFixed(1)} of processors);`,
    );
    console.log(`  p50 / p95 of the ${firstQueries} queries behind it ${times};`);
    console.log(
      `  memory: ${peakOfBuild.toFixed(0)} MB at most by then, ${peak.toFixed(0)} MB in all, ${resident.toFixed(0)} MB at the end`,
    );
  }
  const index = join(folder, "lathe");
  const names = readdirSync(index, { recursive: true }).map((name) => join(index, String(name)));
  const size = names.reduce((sum, name) => sum + (statSync(name).isFile() ? statSync(name).size : 0), 0);
  console.log(`${(size / 1e6).toFixed(0)} MB of index`);
  rmSync(folder, { recursive: true });
}

if (values.inside) console.log(JSON.stringify(await measured(values.cache ?? "")));
else await main();
