/** The search: copies the workspace, finds suspicious lines, tries ranked candidate edits until the tests pass. */

import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { type Candidate, candidatesOf } from "./candidates.ts";
import { commandSuite } from "./command-suite.ts";
import { explore } from "./explore.ts";
import { nodeSuite } from "./node-suite.ts";
import { pythonSuite } from "./python-suite.ts";
import type { RepairDeps, RepairInput, RepairResult, RunResult } from "./repair-types.ts";
import { type Bench, runTests, type Suite } from "./suite.ts";
import { direct, runnerOf } from "./test-command.ts";
import { isTestFile } from "./test-file.ts";
import { toRepair } from "./to-repair.ts";
import { copyWorkspace } from "./workspace-copy.ts";

/** Searches for edits that make the test command pass. The workspace itself is only read. */
export async function searchRepair(input: RepairInput, deps: RepairDeps): Promise<RepairResult> {
  const started = deps.now();
  await mkdir(deps.scratch, { recursive: true });
  const home = await mkdtemp(join(deps.scratch, "repair-"));
  try {
    const bench = await openBench(input, deps, home);
    const result = await searchIn(bench);
    return { ...result, seconds: (deps.now() - started) / 1000 } as RepairResult;
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

async function openBench(input: RepairInput, deps: RepairDeps, home: string): Promise<Bench> {
  const started = deps.now();
  const slots = Array.from({ length: Math.max(1, deps.parallel ?? 2) }, (_, index) =>
    join(home, `copy-${index}`),
  );
  const copied = await Promise.all(slots.map((slot) => copyWorkspace(input.root, slot)));
  const texts = new Map<string, string>();
  const text = async (path: string): Promise<string> => {
    const known = texts.get(path);
    if (known !== undefined) return known;
    const read = await readFile(join(input.root, path), "utf8");
    texts.set(path, read);
    return read;
  };
  const files = copied[0] ?? [];
  const packageJson = files.includes("package.json") ? await text("package.json") : undefined;
  return {
    input,
    deps,
    home,
    stop: join(home, "stop"),
    slots: slots as [string, ...string[]],
    files,
    command: direct(input.test, packageJson),
    packageJson,
    left: () => (deps.signal?.aborted ? 0 : input.budget.seconds - (deps.now() - started) / 1000),
    text,
  };
}

type Unfinished = RepairResult extends infer R
  ? R extends RepairResult
    ? Omit<R, "seconds">
    : never
  : never;

async function searchIn(bench: Bench): Promise<Unfinished> {
  const opened = await openSuite(bench);
  if ("type" in opened) return opened;
  const candidates = await allCandidates(bench, opened);
  if (candidates.length === 0) return { type: "not-found", tried: 0, candidates: 0, why: "no-candidates" };
  const { found, tried, exhausted } = await explore(bench, opened, candidates);
  if (found.length > 0)
    return {
      type: "repaired",
      tried,
      repairs: await Promise.all(
        found.map(async (candidate) => toRepair(await bench.text(candidate.path), candidate)),
      ),
    };
  const why = bench.deps.signal?.aborted ? "cancelled" : exhausted ? "exhausted" : "out-of-budget";
  return { type: "not-found", tried, candidates: candidates.length, why };
}

async function openSuite(bench: Bench): Promise<Suite | Unfinished> {
  const runner = runnerOf(bench.input.test, bench.packageJson);
  const fast =
    "python" in runner
      ? await pythonSuite(bench, runner)
      : "program" in runner
        ? await nodeSuite(bench, runner)
        : undefined;
  if (fast !== undefined) return fast;
  const started = bench.deps.now();
  const result = await runTests(bench, bench.command, {
    slot: bench.slots[0],
    timeoutMs: Math.min(60_000, Math.max(8_000, bench.left() * 250)),
  });
  if (result.exitCode === 0 && !result.timedOut) return { type: "already-passing" };
  if (cannotRun(result)) return { type: "cannot-run", output: result.output.slice(-2_000) };
  return commandSuite(bench, runner, { result, ms: bench.deps.now() - started });
}

function cannotRun(result: RunResult): boolean {
  return (
    result.exitCode === 127 ||
    result.exitCode === 126 ||
    /no tests (ran|found)|No module named (pytest|unittest)|Missing script:/i.test(
      result.output.slice(-3_000),
    )
  );
}

async function allCandidates(bench: Bench, suite: Suite): Promise<readonly Candidate[]> {
  const allowed =
    bench.input.files === undefined
      ? undefined
      : new Set(bench.input.files.map((file) => file.replace(/^\.\//, "")));
  const out: Candidate[] = [];
  for (const { path, lines } of suite.suspects) {
    const language = bench.deps.syntax.languageOf(path);
    if (language === undefined || isTestFile(path) || (allowed !== undefined && !allowed.has(path))) continue;
    for (const candidate of await candidatesOf(
      { path, language, text: await bench.text(path), lines },
      bench.deps.syntax,
    ))
      out.push(candidate);
  }
  return out.sort((a, b) => b.score - a.score).slice(0, bench.input.budget.candidates);
}
