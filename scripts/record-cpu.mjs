/**
 * `npm test -- --profile` loads this into each test process; at exit it writes the CPU time of the process
 * and its tests.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach } from "node:test";

const folder = new URL(import.meta.url).searchParams.get("folder");
const script = process.argv[1];
const started = new Map();
const tests = [];

beforeEach((test) => started.set(test.fullName, { cpu: cpuSeconds(), time: performance.now() }));
afterEach((test) => {
  const start = started.get(test.fullName);
  if (start === undefined) return;
  started.delete(test.fullName);
  const cpu = cpuSeconds() - start.cpu;
  const wall = (performance.now() - start.time) / 1000;
  tests.push({ name: test.fullName, file: test.filePath, cpu, wall });
});

process.once("exit", () => {
  const record = { script, cpu: cpuSeconds(), started: childrenSeconds(), wall: process.uptime(), tests };
  writeFileSync(join(folder, `${process.pid}.json`), JSON.stringify(record));
});

/** Includes finished child processes where the system reports them; elsewhere only this process. */
function cpuSeconds() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6 + childrenSeconds();
}

function childrenSeconds() {
  try {
    const stat = readFileSync("/proc/self/stat", "utf8");
    // The program's name may contain spaces, so the fields are counted after it; cutime and cstime are fields
    // 16 and 17.
    const ticks = stat
      .slice(stat.lastIndexOf(")") + 2)
      .split(" ")
      .slice(13, 15);
    return ticks.reduce((total, tick) => total + Number(tick), 0) / 100;
  } catch {
    return 0;
  }
}
