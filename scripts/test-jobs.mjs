/** The processes that a run of the tests consists of: a package's files share one where they leave it as they found it. */
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

export const isFull = (file) => file.endsWith(".full.test.ts");

/** Of one process: a group must not end long after all others. */
const maxFiles = (name) => (name === "e2e" ? 7 : 25);

/**
 * What a file does to its process, or takes for granted of it: the folder, variables, signals, clocks, hooks that hold
 * for all tests, and measurements that other tests would disturb.
 */
const needsOwn = [
  /process\.(?:chdir|umask|exit|exitCode|on|once|emit|execArgv)\b/,
  /process\.env(?:\.\w+|\[[^\]]+\]) =[^=]|Object\.assign\(process\.env|delete process\.env/,
  // While it waits, tests of files before it would run, and take its tests and hooks for theirs.
  /^(?!.*\basync\b)[^\s/*].*\bawait\b/m,
  /\bmock\.|globalThis\.|syncBuiltinESMExports/,
  /^(?:beforeEach|afterEach)\(/m,
  /testkit\/growth"/,
  // They assert how soon something ends, and other tests would collect garbage meanwhile.
  /describe\("a search ends in time"/,
];

/** By `npm test -- --profile`; the order only decides how evenly the cores are busy at the end. */
const longest = [
  "e2e/forks.test.ts",
  "packages/hosts/local/src/forks/forks.test.ts",
  "packages/repair/src/search-repair.test.ts",
  "e2e/best-of.test.ts",
  "packages/repair/src/search-limits.test.ts",
  "packages/adapters/mcp/src/open-servers.test.ts",
  "e2e/best-of-worktrees.test.ts",
  "e2e/acp.test.ts",
  "packages/core/policy/src/hostile-scripts.test.ts",
  "packages/adapters/sandbox/src/drivers/bubblewrap-driver.test.ts",
  "packages/adapters/sandbox/src/drivers/launcher-driver.test.ts",
  "packages/adapters/sandbox/src/drivers/none-driver.test.ts",
  "packages/adapters/sandbox/src/drivers/landlock-driver.test.ts",
  "packages/adapters/models/src/wires/wires.test.ts",
  "packages/adapters/models/src/odd-servers.test.ts",
  "packages/adapters/models/src/wires/round-trip.test.ts",
  "packages/adapters/sandbox/src/probe/probe.test.ts",
];

/** Files to start, longest first; several test files become one that imports them, in `folder`. */
export function jobsOf(files, { root, folder }) {
  const groups = Map.groupBy(files, (file) => groupOf(file, root));
  const shared = [...groups].flatMap(([name, all]) => (name === undefined ? [] : chunks(name, all)));
  const written = shared.map(({ name, part }) => writeGroup({ name, part, root, folder }));
  const alone = groups.get(undefined) ?? [];
  const weight = (file) =>
    longest.includes(file) ? 1e9 - longest.indexOf(file) : statSync(join(root, file)).size;
  const byWeight = alone.toSorted((a, b) => weight(b) - weight(a));
  const first = byWeight.filter((file) => longest.includes(file));
  return [...first, ...written, ...byWeight.slice(first.length)];
}

/** The package; nothing for a file that stays alone: long ones, and those that `needsOwn` finds. */
function groupOf(file, root) {
  if (isFull(file) || file.startsWith("checks/") || longest.includes(file)) return undefined;
  const text = readFileSync(join(root, file), "utf8");
  if (needsOwn.some((pattern) => pattern.test(text))) return undefined;
  // The whole harness takes a third of a second to load, and restores what a run changes in its process.
  if (file.startsWith("e2e/")) return "e2e";
  return /^(?:apps\/[^/]+|packages\/[^/]+\/(?!src\/)[^/]+|packages\/[^/]+)/.exec(file)?.[0];
}

function chunks(name, files) {
  const count = Math.ceil(files.length / maxFiles(name));
  const size = Math.ceil(files.length / count);
  return Array.from({ length: count }, (_, i) => ({
    name: count === 1 ? name : `${name} ${i + 1}`,
    part: files.slice(i * size, (i + 1) * size),
  }));
}

/** All files are read before the first test runs. The path is under the root, so that the path tells what it is of. */
function writeGroup({ name, part, root, folder }) {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `${name.replaceAll("/", "-").replaceAll(" ", "-")}.mjs`);
  writeFileSync(
    path,
    part.map((file) => `import ${JSON.stringify(pathToFileURL(join(root, file)).href)};\n`).join(""),
  );
  return path.slice(root.length);
}
