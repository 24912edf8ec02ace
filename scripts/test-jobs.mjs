/** Divides a test run into processes: files of a package share one if they leave their process unchanged. */
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

export const isFull = (file) => file.endsWith(".full.test.ts");

/** The most files per process: a group must not end long after all others. */
const maxFiles = (name) => (name === "e2e" ? 7 : 25);

/**
 * Patterns of tests that change their process or depend on its state: folder, variables, signals, clocks,
 * global hooks, and measurements that other tests would disturb.
 */
const needsOwn = [
  /process\.(?:chdir|umask|exit|exitCode|on|once|emit|execArgv)\b/,
  /process\.env(?:\.\w+|\[[^\]]+\]) =[^=]|Object\.assign\(process\.env|delete process\.env/,
  // A top-level await would let earlier files' tests start, which would then adopt this file's tests and
  // hooks.
  /^(?!.*\basync\b)[^\s/*].*\bawait\b/m,
  /\bmock\.|globalThis\.|syncBuiltinESMExports/,
  /^(?:beforeEach|afterEach)\(/m,
  /testkit\/growth"/,
  // These tests measure how soon something ends, and other tests' garbage collection would delay it.
  /describe\("a search ends in time"/,
];

/** From `npm test -- --profile`; the order only affects how evenly the cores are used at the end. */
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

/** The files to start, longest first; in `folder`, a generated file imports several test files. */
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

/**
 * The package of a file; undefined for a file with its own process: long tests, and those that `needsOwn`
 * matches.
 */
function groupOf(file, root) {
  if (isFull(file) || file.startsWith("checks/") || longest.includes(file)) return undefined;
  const text = readFileSync(join(root, file), "utf8");
  if (needsOwn.some((pattern) => pattern.test(text))) return undefined;
  // The e2e tests share processes: the harness takes a third of a second to load, and each run restores its
  // process.
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

/** All imported files are loaded before the first test runs. The path includes the group's name. */
function writeGroup({ name, part, root, folder }) {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `${name.replaceAll("/", "-").replaceAll(" ", "-")}.mjs`);
  writeFileSync(
    path,
    part.map((file) => `import ${JSON.stringify(pathToFileURL(join(root, file)).href)};\n`).join(""),
  );
  return path.slice(root.length);
}
