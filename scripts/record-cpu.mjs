/** Loaded into each test process by `npm test -- --profile`: writes at its end the CPU time of it and of its tests. */
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

/** With the processes it waited for where the system tells; elsewhere its own alone. */
function cpuSeconds() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6 + childrenSeconds();
}

function childrenSeconds() {
  try {
    const stat = readFileSync("/proc/self/stat", "utf8");
    // After the program's name, which may hold spaces; cutime and cstime are the fields 16 and 17.
    const ticks = stat
      .slice(stat.lastIndexOf(")") + 2)
      .split(" ")
      .slice(13, 15);
    return ticks.reduce((total, tick) => total + Number(tick), 0) / 100;
  } catch {
    return 0;
  }
}
