/**
 * Measures ranked searches after edits: `node bench/edits/run.ts --root DIR --file PATH [--rounds N]`. It
 * asks a session that watches for changes and one that checks every file the same queries in turn, before and
 * after an edit of the file, and compares the answers. It changes only that file in DIR, and restores it.
 */
import { appendFileSync, mkdtempSync, rmSync, statSync, truncateSync } from "node:fs";
import { availableParallelism, loadavg, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { isFailure, type RankedRange, type Search } from "@lathe/protocol";
import { createSearch } from "@lathe/search";

const { values } = parseArgs({
  options: {
    root: { type: "string" },
    file: { type: "string" },
    rounds: { type: "string", default: "12" },
  },
});
const root = resolve(values.root ?? ".");
const file = join(root, values.file ?? "");
const never = new AbortController().signal;

interface Answer {
  /** Elapsed milliseconds, and milliseconds of CPU time. */
  readonly took: number;
  readonly worked: number;
  readonly ranges: readonly RankedRange[];
}

async function ask(search: Search, query: string): Promise<Answer> {
  const [began, before] = [performance.now(), process.cpuUsage()];
  const answer = await search.rank({ query, k: 10 }, never);
  const { user, system } = process.cpuUsage(before);
  if (isFailure(answer) || answer.partial) throw new Error(`no answer to ${query}`);
  return { took: performance.now() - began, worked: (user + system) / 1000, ranges: answer.ranges };
}

/**
 * Waits until the watching session no longer scans the tree, which shows in a third of the other's CPU time.
 */
async function hears(hearing: Search, looking: Search): Promise<void> {
  await ask(hearing, "open files");
  await ask(looking, "open files");
  const most = (await ask(looking, "open files")).worked / 3;
  while ((await ask(hearing, "open files")).worked > most) await pause(500);
}

function median(answers: readonly Answer[], of: "took" | "worked"): string {
  const sorted = answers.map((answer) => answer[of]).toSorted((a, b) => a - b);
  return (sorted[sorted.length >> 1] ?? Number.NaN).toFixed(1);
}

const folder = mkdtempSync(join(tmpdir(), "lathe-edits-bench-"));
const index = { folder, patienceMs: 600_000 };
const sessions = {
  hears: createSearch({ root, index }),
  looks: createSearch({ root, index: { ...index, isOneShot: true } }),
};
console.log(`${availableParallelism()} cores, load ${loadavg()[0]?.toFixed(1)}`);
await hears(sessions.hears, sessions.looks);
const { size } = statSync(file);
const answers: Record<string, Answer[]> = {};
let different = 0;
try {
  for (let round = 0; round < Number(values.rounds); round++) {
    for (const kind of ["unchanged", "edited"]) {
      if (kind === "edited") appendFileSync(file, `// kettle_whistles${round}\n`);
      const [heard, looked] = [
        await ask(sessions.hears, `kettle_whistles${round}`),
        await ask(sessions.looks, `kettle_whistles${round}`),
      ];
      answers[`${kind}, a session that hears`] = [...(answers[`${kind}, a session that hears`] ?? []), heard];
      answers[`${kind}, one that looks`] = [...(answers[`${kind}, one that looks`] ?? []), looked];
      if (JSON.stringify(heard.ranges) !== JSON.stringify(looked.ranges)) different++;
      if (kind === "edited" && heard.ranges.length === 0) throw new Error("an edit was not found");
    }
  }
} finally {
  truncateSync(file, size);
}
for (const [kind, all] of Object.entries(answers))
  console.log(`${kind}: ${median(all, "took")} ms, ${median(all, "worked")} ms of processors`);
console.log(`${different} answers differ.`);
rmSync(folder, { recursive: true });
