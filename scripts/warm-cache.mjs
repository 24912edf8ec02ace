/**
 * After an install, bundles the command's sources and compiles them once, so that later starts are fast.
 * Never fails.
 */
import { spawnSync } from "node:child_process";
import { accessSync, constants, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { launcherFlags } from "./launcher-flags.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const cache = join(root, "node_modules", ".cache", "lathe");
const sources = ["apps/cli/src/main.ts", "packages/hosts/local/local.ts"]
  .map((entry) => join(root, entry))
  .filter((entry) => existsSync(entry));

/** The code that fills the cache; V8 accepts cached code only under the flags of bin/lathe.mjs. */
function program(entries) {
  const imports = entries.map((entry) => `await import(${JSON.stringify(entry)});`);
  return [
    'import module from "node:module";',
    `module.enableCompileCache(${JSON.stringify(cache)});`,
    ...imports,
    "process.exit(0);",
  ].join("\n");
}

/** Uses the sources themselves if they cannot be bundled. */
async function entryPoints() {
  try {
    const { bundle } = await import("./bundle.mjs");
    return await bundle();
  } catch (error) {
    console.log(`lathe: its sources are not joined: ${error.message}`);
    return sources.map((entry) => pathToFileURL(entry).href);
  }
}

async function warm() {
  if (!process.features.typescript) return `skipped: Node ${process.versions.node} cannot run TypeScript`;
  try {
    mkdirSync(cache, { recursive: true });
    accessSync(cache, constants.W_OK);
  } catch {
    return "skipped: node_modules cannot be written";
  }
  const started = performance.now();
  const entries = await entryPoints();
  const args = [...launcherFlags(), "--input-type=module", "-e", program(entries)];
  const run = spawnSync(process.execPath, args, {
    timeout: 60_000,
    stdio: "ignore",
  });
  if (run.status !== 0) return "skipped: the command's code did not load";
  return `done in ${Math.round(performance.now() - started)} ms`;
}

const said = await warm().catch((error) => `skipped: ${error.message}`);
console.log(`lathe: warming the compile cache: ${said}`);
