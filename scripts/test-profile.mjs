/** `npm test -- --profile`: reports the CPU time of each test process and test, including child processes. */
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";

const dearestTests = 60;

/** Returns the Node options for the test processes, and the report for the end. */
export function profiled(root, folder) {
  mkdirSync(folder, { recursive: true });
  const preload = new URL("record-cpu.mjs", import.meta.url);
  preload.searchParams.set("folder", folder);
  return { options: ["--import", preload.href], report: () => reportOf(root, folder) };
}

function reportOf(root, folder) {
  const jobs = readdirSync(folder).map((name) => JSON.parse(readFileSync(join(folder, name), "utf8")));
  const byCpu = jobs.map(({ script, cpu, started, wall, tests }) => ({
    cpu,
    started,
    wall,
    tests: tests.length,
    label: nameOf(root, script),
  }));
  const tests = jobs
    .flatMap((job) => job.tests)
    .map(({ name, file, cpu, wall }) => ({ cpu, wall, label: `${nameOf(root, file)}: ${name}` }));
  const fields = ["cpu", "started", "wall", "tests"].map((field) => [field, sum(byCpu, field)]);
  const all = { ...Object.fromEntries(fields), label: "all" };
  return [
    "\n   CPU s  started   wall s  tests  process (started: CPU s of the processes it waited for)",
    ...[...dearestFirst(byCpu), all].map(rowOf),
    "\n   CPU s            wall s         test (beside it others of its process may run)",
    ...dearestFirst(tests).slice(0, dearestTests).map(rowOf),
  ].join("\n");
}

const nameOf = (root, file) => relative(root, file).replace(/^.*groups-\d+\//, "group ");

function rowOf({ label, cpu, started, wall, tests = "" }) {
  const seconds = [cpu, started, wall].map((value) => (value?.toFixed(2) ?? "").padStart(8));
  return `${seconds.join(" ")} ${String(tests).padStart(6)}  ${label}`;
}

const dearestFirst = (rows) => rows.toSorted((a, b) => b.cpu - a.cpu);
const sum = (rows, field) => rows.reduce((total, row) => total + row[field], 0);
