/**
 * Packs Lathe, installs it as people do but into a folder of its own and without install scripts, and uses it under the
 * oldest Node it names and under the one of this repository: `node scripts/try-package.mjs`. Needs the registry.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const oldest = "22.13.1";
const folder = mkdtempSync(join(tmpdir(), "lathe-package-"));
const home = join(folder, "home");

function run(name, args, env = {}) {
  const { status, stdout, stderr } = spawnSync(name, args, {
    cwd: folder,
    env: { ...process.env, ...env },
    encoding: "utf8",
    timeout: 120_000,
  });
  if (status !== 0) throw new Error(`${name} ${args.join(" ")}: exit ${status}\n${stdout}${stderr}`);
  return stdout.trim();
}

/** As somebody with this Node and nothing else of ours on the PATH. */
function use(node) {
  const path = [dirname(node), join(folder, "bin"), "/usr/local/bin", "/usr/bin", "/bin"].join(delimiter);
  const env = {
    PATH: path,
    HOME: home,
    XDG_CACHE_HOME: "",
    XDG_CONFIG_HOME: "",
    XDG_STATE_HOME: "",
    NODE_OPTIONS: "",
  };
  console.log(`Node ${run(node, ["--version"])}`);
  for (const args of [["--version"], ["doctor"], ["tool", "list", "--json", "{}"], ["demo", "--bug", "1"]]) {
    const started = performance.now();
    const said = run("lathe", args, env).split("\n");
    console.log(`  lathe ${args.join(" ")}: ${said.at(-1)} (${Math.round(performance.now() - started)} ms)`);
  }
}

try {
  mkdirSync(home);
  const tarball = run(process.execPath, [fileURLToPath(new URL("pack.mjs", import.meta.url)), folder]);
  const npm = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"];
  run("npm", [...npm, "--global", "--prefix", folder, tarball]);
  const other = join(folder, "node");
  mkdirSync(other);
  run("npm", [...npm, "--prefix", other, `node-${process.platform}-${process.arch}@${oldest}`]);
  use(join(other, "node_modules", `node-${process.platform}-${process.arch}`, "bin", "node"));
  use(process.execPath);
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
