/** After an install: compiles the command once, so that its first start is as fast as the later ones. Never fails. */
import { spawnSync } from "node:child_process";
import { accessSync, constants, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const cache = join(root, "node_modules", ".cache", "lathe");
const entries = ["apps/cli/src/main.ts", "packages/hosts/local.ts"].filter((entry) =>
  existsSync(join(root, entry)),
);

/** The code that fills the cache; V8 takes cached code only under the flags of bin/lathe.mjs. */
function program() {
  const imports = entries.map(
    (entry) => `await import(${JSON.stringify(pathToFileURL(join(root, entry)).href)});`,
  );
  return [
    'import module from "node:module";',
    `module.enableCompileCache(${JSON.stringify(cache)});`,
    ...imports,
    "process.exit(0);",
  ].join("\n");
}

function warm() {
  if (!process.features.typescript) return `skipped: Node ${process.versions.node} cannot run TypeScript`;
  try {
    mkdirSync(cache, { recursive: true });
    accessSync(cache, constants.W_OK);
  } catch {
    return "skipped: node_modules cannot be written";
  }
  const started = performance.now();
  const flags = [
    "--liftoff-only",
    "--min-semi-space-size=8",
    "--disable-warning=ExperimentalWarning",
    "--input-type=module",
  ];
  const run = spawnSync(process.execPath, [...flags, "-e", program()], { timeout: 60_000, stdio: "ignore" });
  if (run.status !== 0) return "skipped: the command's code did not load";
  return `done in ${Math.round(performance.now() - started)} ms`;
}

console.log(`lathe: warming the compile cache: ${warm()}`);
