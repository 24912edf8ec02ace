/**
 * Installs the command `lathe` for this user from a clone: `npm run setup`. It packs the published package
 * and installs it with npm, into npm's global prefix if that is writable, else into `~/.local`.
 */
import { spawnSync } from "node:child_process";
import { accessSync, constants, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { delimiter, dirname, join, sep } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url)).replace(/\/$/, "");
const { npm_execpath: npm, npm_node_execpath: node, npm_config_global_prefix: globalPrefix } = process.env;

function fail(text) {
  console.error(text);
  process.exit(1);
}

function run(program, args, stdio = ["ignore", "pipe", "inherit"]) {
  const { status, stdout } = spawnSync(program, args, { encoding: "utf8", stdio, cwd: root });
  if (status !== 0) fail(`Setup failed: ${[program, ...args].join(" ")} ended with ${status}.`);
  return stdout?.trim() ?? "";
}

/** Whether the folder is writable or can be made. */
function canWrite(folder) {
  if (!existsSync(folder)) return dirname(folder) !== folder && canWrite(dirname(folder));
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function choosePrefix() {
  const places = [join(globalPrefix, "lib", "node_modules"), join(globalPrefix, "bin")];
  return places.every(canWrite) ? globalPrefix : join(homedir(), ".local");
}

/** The programs called `lathe` that a shell finds, in order, without npm's own additions to the PATH. */
function foundInPath() {
  const folders = (process.env.PATH ?? "").split(delimiter);
  const ofPerson = folders.filter(
    (folder) => folder && !`${folder}${sep}`.includes(`${sep}node_modules${sep}`),
  );
  return ofPerson.map((folder) => join(folder, "lathe")).filter((file) => existsSync(file));
}

if (!npm || !node || !globalPrefix) fail("Run it as `npm run setup`: npm says where it installs.");
if (!existsSync(join(root, "node_modules", "rolldown"))) fail("Run `npm ci` first.");
const prefix = choosePrefix();
const folder = mkdtempSync(join(tmpdir(), "lathe-setup-"));
try {
  console.log("Packing Lathe...");
  const tarball = run(process.execPath, [join(root, "scripts", "pack.mjs"), folder])
    .split("\n")
    .at(-1);
  console.log(`Installing it in ${prefix}...`);
  const quiet = [
    "--no-audit",
    "--no-fund",
    "--loglevel=error",
    "--prefer-offline",
    "--ignore-scripts",
    "--no-update-notifier",
  ];
  run(
    node,
    [npm, "install", "--global", "--prefix", prefix, ...quiet, tarball],
    ["ignore", "ignore", "inherit"],
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}
const installed = join(prefix, "lib", "node_modules", "lathe-agent");
writeFileSync(join(installed, "installed-from.json"), `${JSON.stringify({ clone: root })}\n`);
const command = join(prefix, "bin", "lathe");
const { version } = JSON.parse(readFileSync(join(installed, "package.json"), "utf8"));
console.log(`Installed Lathe ${version} as ${command}.`);
const [first] = foundInPath();
if (first === command) console.log("Start it in your project: lathe");
else if (first === undefined)
  console.log(`Add it to your PATH, in your shell's profile:\n  export PATH="${dirname(command)}:$PATH"`);
else
  console.log(
    `Your shell finds another one first: ${first}.\nRemove it, or put ${dirname(command)} before it in your PATH.`,
  );
