/** `npm run check [name ...]`: every static check, one after the other; says what each does and what failed. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const colors = process.stdout.isTTY ? [] : ["--colors=off"];

const checks = [
  {
    name: "biome",
    does: "format and lint rules (biome.json)",
    run: ["biome", "ci", "--error-on-warnings", ...colors, "."],
  },
  { name: "types", does: "TypeScript over everything (tsconfig.json)", run: ["tsc", "--noEmit"] },
  {
    name: "pure",
    does: "TypeScript over the pure packages: no Node, no DOM (tsconfig.pure.json)",
    run: ["tsc", "--noEmit", "-p", "tsconfig.pure.json"],
  },
  {
    name: "layers",
    does: "who may import whom, and what the pure packages may not do (checks/layers.ts)",
    run: ["node", "--test", "--test-reporter=dot", "checks/layers.test.ts"],
  },
  {
    name: "spawns",
    does: "who may start programs outside the sandbox (checks/spawns.ts)",
    run: ["node", "--test", "--test-reporter=dot", "checks/spawns.test.ts"],
  },
  {
    name: "lockfile",
    does: "everything `npm ci` needs on every platform is locked (checks/lockfile.test.ts)",
    run: ["node", "--test", "--test-reporter=dot", "checks/lockfile.test.ts"],
  },
  {
    name: "knip",
    does: "unused files, exports and dependencies (knip.config.js)",
    run: ["knip", "--no-config-hints"],
  },
];

function passes({ name, does, run: [command, ...args] }) {
  console.log(`\n== ${name}: ${does}`);
  const started = performance.now();
  const path = [join(root, "node_modules", ".bin"), process.env.PATH].join(delimiter);
  const shell = process.platform === "win32";
  const { status } = spawnSync(command, args, {
    cwd: root,
    stdio: "inherit",
    shell,
    env: { ...process.env, PATH: path },
  });
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`   ${name}: ${status === 0 ? "ok" : "FAILED"} (${seconds} s)`);
  return status === 0;
}

function main(names) {
  const unknown = names.filter((name) => !checks.some((check) => check.name === name));
  if (unknown.length > 0) {
    console.error(
      `unknown check: ${unknown.join(", ")}; there are ${checks.map((check) => check.name).join(", ")}`,
    );
    return 2;
  }
  if (!existsSync(join(root, "node_modules"))) {
    console.error("nothing installed: run `npm ci` first");
    return 2;
  }
  const chosen = checks.filter((check) => names.length === 0 || names.includes(check.name));
  const failed = chosen.filter((check) => !passes(check)).map((check) => check.name);
  console.log(failed.length === 0 ? "\nAll checks pass." : `\nFailed: ${failed.join(", ")}`);
  return failed.length === 0 ? 0 : 1;
}

process.exitCode = main(process.argv.slice(2));
