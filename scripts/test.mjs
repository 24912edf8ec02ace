/**
 * `npm test [-- path-part ...] [--node-option ...]`: runs the test files whose path holds one of the parts, or all.
 * `--full` adds the long ones (`*.full.test.ts`), `--only-full` runs nothing else; `--explore` draws other cases of
 * properties than the usual ones.
 */
import { spawnSync } from "node:child_process";
import { accessSync, constants, globSync, mkdirSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const isFull = (file) => file.endsWith(".full.test.ts");

function testFiles(mode, parts) {
  const folders = ["apps", "packages", "checks", "e2e"].map((folder) => `${folder}/**/*.test.ts`);
  return globSync(folders, {
    cwd: root,
    exclude: (path) => path.includes("node_modules") || path.endsWith("fixtures"),
  })
    .map((file) => file.replaceAll("\\", "/"))
    .filter((file) => mode === "--full" || isFull(file) === (mode === "--only-full"))
    .filter((file) => parts.length === 0 || parts.some((part) => file.includes(part.replace(/^\.\//, ""))))
    .sort();
}

function main(args) {
  if (!process.features.typescript) {
    console.error(`Node ${process.versions.node} cannot run TypeScript: run \`npm ci\`, then \`npm test\``);
    return 2;
  }
  const modes = ["--full", "--only-full"];
  const mode = args.findLast((arg) => modes.includes(arg));
  const exploring = args.includes("--explore") ? ["--conditions=explore"] : [];
  const options = args.filter((arg) => arg.startsWith("--") && ![...modes, "--explore"].includes(arg));
  const parts = args.filter((arg) => !arg.startsWith("--"));
  const files = testFiles(mode, parts);
  if (files.length === 0) {
    console.log(`No test file${parts.length > 0 ? ` matches ${parts.join(", ")}` : ""}.`);
    return parts.length > 0 ? 1 : 0;
  }
  console.log(`Running ${files.length} test files on Node ${process.versions.node}`);
  const timeout = `--test-timeout=${mode === undefined ? 120_000 : 600_000}`; // of one file: a test that hangs is a failure
  // One file more than there are cores: many wait for processes of theirs, and a core would have nothing to do.
  const atOnce = `--test-concurrency=${availableParallelism() + 1}`;
  const runner = ["--test", "--test-reporter=spec", atOnce, timeout];
  // What starts the command again and again starts the joined sources, as those who use it do.
  spawnSync(process.execPath, [join(root, "scripts", "warm-cache.mjs")], { stdio: "inherit" });
  const { status } = spawnSync(process.execPath, [...exploring, ...runner, ...options, ...files], {
    cwd: root,
    stdio: "inherit",
    env: { ...process.env, ...compiledCode() },
  });
  return status ?? 1;
}

/** Modules and the launcher are compiled once and not once for each test; nothing where that cannot be kept. */
function compiledCode() {
  const folder = join(root, "node_modules", ".cache", "lathe-tests");
  try {
    mkdirSync(folder, { recursive: true });
    accessSync(folder, constants.W_OK);
    return { NODE_COMPILE_CACHE: folder, LATHE_TEST_CACHE: join(folder, "launcher") };
  } catch {
    return {};
  }
}

process.exitCode = main(process.argv.slice(2));
