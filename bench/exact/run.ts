/**
 * The benchmark of exact search: `node bench/exact/run.ts --root DIR [--patterns N] [--cache DIR]` indexes a
 * tree (at least a gigabyte, in a git repository). It compares every result with ripgrep's over the whole
 * tree, and prints the speed-up in a running session (`--rounds 0` only compares). It changes only one file
 * in DIR, and restores it.
 */
import { appendFileSync, mkdtempSync, readdirSync, rmSync, statSync, truncateSync } from "node:fs";
import { availableParallelism, loadavg, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { type GrepResult, isFailure, type Search } from "@lathe/protocol";
import { createSearch } from "@lathe/search";
import { type Pattern, patternsOf } from "./patterns.ts";

const { values } = parseArgs({
  options: {
    root: { type: "string" },
    cache: { type: "string" },
    patterns: { type: "string", default: "300" },
    rounds: { type: "string", default: "7" },
  },
});
const root = resolve(values.root ?? ".");
const home =
  values.cache === undefined ? mkdtempSync(join(tmpdir(), "lathe-exact-bench-")) : resolve(values.cache);
const rounds = Number(values.rounds);
const never = new AbortController().signal;

/** The most of ripgrep's time that a search may take, and how often a slower one is repeated. */
const maxOfRipgrep = 1.1;
const again = 10;

/** For a tree of C: the comment gives each pattern's number of matches in Linux 6.1. */
const kinds: readonly (readonly [kind: string, pattern: Pattern])[] = [
  ["literal, nowhere", { pattern: "xfs_kettle_whistles", literal: true }],
  ["literal, rare", { pattern: "xfs_btree_rec_offset", literal: true }],
  ["literal, rare, any case", { pattern: "XFS_BTREE_REC_OFFSET", literal: true, ignoreCase: true }],
  ["literal, in 1 % of files", { pattern: "mutex_lock_interruptible", literal: true }],
  ["literal, in most files", { pattern: "include", literal: true }],
  ["regex with literals, rare", { pattern: "xfs_btree_\\w+_offset\\(" }],
  ["regex with literals, two of them", { pattern: "static\\s+int\\s+ext4_\\w+_inode\\(" }],
  ["alternatives", { pattern: "(?:ext4|btrfs)_(?:alloc|free)_inode\\b" }],
  ["regex without literals", { pattern: "\\b[a-f]{9}\\b" }],
];

async function grep(search: Search, pattern: Pattern, limit: number): Promise<GrepResult | string> {
  const found = await search.grep({ ...pattern, limit }, never);
  return isFailure(found) ? found.text : found;
}

async function timed(search: Search, pattern: Pattern): Promise<number> {
  const began = performance.now();
  await grep(search, pattern, 1000);
  return performance.now() - began;
}

function median(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? Number.NaN;
}

function sizeOf(path: string): number {
  const entries = readdirSync(path, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  return entries.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
}

/** Waits until a session watches the tree and has its index: the first search only starts that. */
async function warmedUp(plain: Search, warm: Search): Promise<number> {
  const began = performance.now();
  const nowhere = { pattern: "xfs_kettle_whistles", literal: true };
  // The first search also brings the tree into the page cache.
  await timed(plain, nowhere);
  const most = (await timed(plain, nowhere)) / 4;
  while ((await timed(warm, nowhere)) > most) await pause(200);
  return performance.now() - began;
}

/** The first search of a session: the index exists, but changes since are unknown. */
async function firstTime(pattern: Pattern): Promise<number> {
  return timed(createSearch({ root, index: { folder, isOneShot: true } }), pattern);
}

function row(cells: readonly (string | number)[]): void {
  console.log(`| ${cells.map((cell) => (typeof cell === "number" ? cell.toFixed(1) : cell)).join(" | ")} |`);
}

async function speed(plain: Search, warm: Search): Promise<void> {
  row(["pattern", "ripgrep ms", "first search", "later ms", "times as fast"]);
  row(Array.from({ length: 5 }, () => "---"));
  for (const [kind, pattern] of kinds) {
    const times: [number[], number[], number[]] = [[], [], []];
    for (let round = 0; round < rounds; round++) {
      times[0].push(await timed(plain, pattern));
      times[1].push(await firstTime(pattern));
      times[2].push(await timed(warm, pattern));
    }
    const [alone, first, later] = times.map(median) as [number, number, number];
    row([kind, alone, first, later, alone / later]);
  }
}

/** Compares with ripgrep's own run over the edited file. */
async function edits(plain: Search, warm: Search): Promise<void> {
  const listed = await warm.files({ limit: 100_000 }, never);
  if (isFailure(listed)) throw new Error(listed.text);
  const path = listed.paths.find((one) => one.endsWith(".c")) ?? listed.paths[0] ?? "";
  const full = join(root, path);
  const { size } = statSync(full);
  const [alone, changed]: [number[], number[]] = [[], []];
  try {
    for (let round = 0; round < rounds * 3; round++) {
      const pattern = { pattern: `kettleWhistles${round}`, literal: true };
      appendFileSync(full, `// ${pattern.pattern}\n`);
      const began = performance.now();
      const found = await grep(warm, pattern, 10);
      const middle = performance.now();
      changed.push(middle - began);
      await plain.grep({ ...pattern, path, limit: 10 }, never);
      alone.push(performance.now() - middle);
      if (typeof found === "string" || found.lines.length !== 1) throw new Error("an edit was not found");
    }
  } finally {
    truncateSync(full, size);
  }
  const [own, all] = [median(alone), median(changed)];
  console.log(`\nEdit to found: ${all.toFixed(1)} ms; ripgrep over that file alone: ${own.toFixed(1)} ms.`);
}

async function compare(plain: Search, warm: Search): Promise<void> {
  const listed = await plain.files({ limit: 1_000_000 }, never);
  if (isFailure(listed)) throw new Error(listed.text);
  const patterns = patternsOf(root, listed.paths, Number(values.patterns));
  let [same, matches] = [0, 0];
  const ratios: number[] = [];
  const slower: Pattern[] = [];
  for (const pattern of patterns) {
    const began = performance.now();
    const expected = await grep(plain, pattern, 20_000);
    const middle = performance.now();
    const found = await grep(warm, pattern, 20_000);
    const ratio = (performance.now() - middle) / (middle - began);
    ratios.push(1 / ratio);
    if (ratio > maxOfRipgrep) slower.push(pattern);
    if (JSON.stringify(found) === JSON.stringify(expected)) same++;
    else console.log(`differs: ${JSON.stringify(pattern)}`);
    matches += typeof expected === "string" ? 0 : expected.lines.length;
    if (ratios.length % 50 === 0) console.log(`${ratios.length} compared, ${same} the same`);
  }
  console.log(`\n${same} of ${patterns.length} patterns give ripgrep's result, ${matches} lines in all;`);
  console.log(`median ${median(ratios).toFixed(1)} times as fast.`);
  const still: string[] = [];
  for (const pattern of slower) {
    const ratio = await medianRatio(plain, warm, pattern);
    if (ratio > maxOfRipgrep) still.push(`${ratio.toFixed(2)} ${JSON.stringify(pattern)}`);
  }
  console.log(
    `${slower.length} took more than ${maxOfRipgrep} of its time once; ${still.length} in the median of ${again} further rounds.`,
  );
  for (const one of still) console.log(one);
}

/** The median ratio of their times, measured alternately. */
async function medianRatio(plain: Search, warm: Search, pattern: Pattern): Promise<number> {
  const ratios: number[] = [];
  for (let round = 0; round < again; round++) {
    // Each goes first equally often: the end of one search still slows down the next.
    const first = round % 2 === 0 ? plain : warm;
    const one = await timed(first, pattern);
    const other = await timed(first === plain ? warm : plain, pattern);
    ratios.push(first === plain ? other / one : one / other);
  }
  return median(ratios);
}

const folder = join(home, "lathe", "index");
const plain = createSearch({ root });
const warm = createSearch({ root, index: { folder } });
console.log(`${availableParallelism()} cores, load ${loadavg()[0]?.toFixed(1)}`);
const seconds = (await warmedUp(plain, warm)) / 1000;
console.log(
  `Built, or found in the cache, and listening after ${seconds.toFixed(1)} s: ${sizeOf(folder)} bytes.\n`,
);
if (rounds > 0) {
  await speed(plain, warm);
  await edits(plain, warm);
}
if (Number(values.patterns) > 0) await compare(plain, warm);
if (values.cache === undefined) rmSync(home, { recursive: true });
