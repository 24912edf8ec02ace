#!/bin/sh
':' /*
# A shell script and an ES module in one file: the shell answers `--version` with no Node at all, else finds the
# right Node and becomes it. Node skips this part as one comment, so it must not hold a star followed by a slash.
self=$0
if [ $# -ne 1 ] || [ "$1" != --version ] || [ -h "$self" ]; then
  real=$(readlink -f -- "$self" 2> /dev/null)
  self=${real:-$self}
fi
bin=${self%/lathe.mjs}
# A link, and no readlink on the PATH: Node follows it, and finds the right Node by itself.
if [ "$bin" = "$self" ]; then exec node "$self" "$@"; fi

if [ $# -eq 1 ] && [ "$1" = --version ]; then
  while IFS= read -r line; do
    case $line in
      '  "version": "'*)
        line=${line#??????????????}
        echo "${line%%\"*}"
        exit ;;
    esac
  done < "$bin/../package.json"
fi

# The only place where they are named: the code that is kept beside the installation belongs to these flags. Every Node
# that may be found has to know them, or lathe does not start.
flags='--liftoff-only --min-semi-space-size=8 --max-semi-space-size=8 --heap-growing-percent=100 --disable-warning=ExperimentalWarning'
up=$bin
while [ -n "$up" ]; do
  up=${up%/[!/]*}
  for platform in linux-x64 linux-arm64 darwin-arm64 darwin-x64; do
    node=$up/node_modules/node-$platform/bin/node
    if [ -x "$node" ]; then
      exec "$node" $flags "$bin/lathe.mjs" "$@"
    fi
  done
done
if command -v node > /dev/null; then
  # Joined sources need none of what an older Node has to be asked for.
  if [ -d "$bin/../lib" ]; then
    exec node $flags "$bin/lathe.mjs" "$@"
  fi
  exec node "$bin/lathe.mjs" "$@"
fi
echo 'lathe: no Node found; install Node 22.13 or newer, or reinstall lathe with its optional dependencies' >&2
exit 1
*/

import { spawn } from "node:child_process";
import { accessSync, constants, existsSync, mkdirSync, readFileSync, statSync } from "node:fs";
import module from "node:module";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const file = fileURLToPath(import.meta.url);

/** Yields every folder above this file, nearest first. */
function* above() {
  for (let at = dirname(file); at !== dirname(at); at = dirname(at)) yield dirname(at);
}

function isNewEnough([major, minor]) {
  return major > 22 || (major === 22 && minor >= 13);
}

/** Returns the Node that was installed with this package, if any. */
function packagedNode() {
  const name = process.platform === "win32" ? "node.exe" : "node";
  const folder = `node-${process.platform.replace("win32", "win")}-${process.arch}`;
  for (const up of above()) {
    const node = join(up, "node_modules", folder, "bin", name);
    if (existsSync(node) && node !== process.execPath) return node;
  }
  return undefined;
}

/** Reads the Node flags from the shell part of this file. */
function launcherFlags() {
  return /^flags='(.*)'$/m.exec(readFileSync(file, "utf8"))[1].split(" ");
}

/** Runs this file again under `node` and exits the way it does. */
function relaunch(node, flags) {
  const child = spawn(node, [...flags, file, ...process.argv.slice(2)], { stdio: "inherit" });
  // The terminal sends SIGINT to both processes; the other signals reach only this one.
  process.on("SIGINT", () => {});
  for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  child.on("error", (cause) => fail(`could not start ${node}: ${cause.message}`));
  child.on("exit", (code, signal) => {
    if (signal === null) process.exit(code ?? 1);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}

/** Returns the cache folder beside the installation. */
function cacheFolder() {
  for (const up of above())
    if (existsSync(join(up, "node_modules"))) return join(up, "node_modules", ".cache", "lathe");
}

/** Caches compiled code in the first writable folder: Node may hang in one that is not writable. */
function cacheCompiledCode(folders) {
  for (const folder of folders) {
    try {
      mkdirSync(folder, { recursive: true });
      accessSync(folder, constants.W_OK);
      module.enableCompileCache?.(folder);
      return;
    } catch {
      // Without a cache Lathe only starts more slowly.
    }
  }
}

/** Returns the user's own cache folder, for an installation that belongs to another user. */
function ownCacheFolder() {
  const { XDG_CACHE_HOME, HOME } = process.env;
  return join(XDG_CACHE_HOME || join(HOME || homedir(), ".cache"), "lathe", "compiled");
}

/** Returns the bundle of scripts/bundle.mjs if no source has changed since. */
function freshBundle(cache) {
  if (process.env.LATHE_BUNDLE === "off") return undefined;
  const bundle = join(cache, "bundle");
  try {
    const inputs = JSON.parse(readFileSync(join(bundle, "inputs.json"), "utf8"));
    const isSame = ([input, mtimeMs, size]) => {
      const now = statSync(input, { throwIfNoEntry: false });
      return now?.mtimeMs === mtimeMs && now.size === size;
    };
    // Checks that the bundle was made from these sources, not copied from another place.
    if (inputs.some(([input]) => input === source) && inputs.every(isSame)) return join(bundle, "main.mjs");
  } catch {
    // The bundle is missing or unreadable.
  }
  return undefined;
}

const source = join(dirname(dirname(file)), "src", "main.ts");
/** The bundle in the published package, which has no sources. */
const shipped = join(dirname(dirname(file)), "lib", "main.mjs");

async function start(entry) {
  const cache = cacheFolder();
  cacheCompiledCode([...(cache ? [cache] : []), ownCacheFolder()]);
  const bundle = entry ?? (cache && freshBundle(cache));
  const { main } = await import(pathToFileURL(bundle ?? source).href);
  process.exitCode = await main(process.argv.slice(2));
}

function fail(text) {
  process.stderr.write(`lathe: ${text}\n`);
  process.exitCode = 1;
}

/** Prints the version on systems whose shell did not already do so. */
function printVersion() {
  const manifest = JSON.parse(readFileSync(join(dirname(file), "..", "package.json"), "utf8"));
  process.stdout.write(`${manifest.version}\n`);
}

if (process.argv.length === 3 && process.argv[2] === "--version") {
  printVersion();
} else if (!isNewEnough(process.versions.node.split(".").map(Number))) {
  const packaged = packagedNode();
  if (packaged !== undefined) relaunch(packaged, launcherFlags());
  else fail(`needs Node 22.13 or newer, this is ${process.versions.node}; install a newer Node`);
} else if (existsSync(shipped)) {
  await start(shipped);
} else if (process.features.typescript) {
  await start();
} else {
  relaunch(process.execPath, [...launcherFlags(), "--experimental-strip-types"]);
}
