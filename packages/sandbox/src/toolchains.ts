/** Which folders outside the system's own hold the programs on a PATH, and nothing secret beside them. */
import { existsSync, readdirSync, realpathSync } from "node:fs";
import { basename, delimiter, dirname, isAbsolute, join } from "node:path";
import { homeCaches } from "./folders.ts";
import { isBelow } from "./path-order.ts";
import { findProgram } from "./shell.ts";

/** Programs worth following when what stands on the PATH is only a link to them. */
const followed = "node python3 go cargo java ruby php deno bun uv git rg make gcc".split(" ");

/** Folders that hold programs among other things, of which only these parts are shown. */
const partsOf: Readonly<Record<string, readonly string[]>> = {
  ".cargo": ["bin", "config.toml"],
  ".local": ["bin", "lib", "share/uv", "share/pipx", "share/mise", "share/fnm", "share/pnpm"],
  go: ["bin"],
  ".rustup": [""],
};

/** What lies beside the programs of a toolchain, and beside nothing else. */
const marks: ReadonlySet<string> = new Set(
  "lib lib64 libexec share include pyvenv.cfg pkg release versions shims tools".split(" "),
);

/** What lies in a home or a project, and may hold secrets. */
const own = /^\.(?:env|envrc|bashrc|profile|ssh|aws|netrc|npmrc|pypirc|config|docker|kube|gnupg)(?:\.|$)/u;

/** Real folders and files to show read-only, for a PATH; those below `shown` are left out. */
export function toolchainPaths(path: string, home: string, shown: readonly string[]): readonly string[] {
  const folders = path.split(delimiter).filter((folder) => isAbsolute(folder) && existsSync(folder));
  const programs = followed.flatMap((name) => findProgram(name, path) ?? []);
  const real = programs.flatMap((program) => realPath(program) ?? []).map(dirname);
  const roots = [...folders, ...real].flatMap((folder) => rootsOf(folder, home, shown));
  if (roots.some((root) => root.startsWith(`${home}/.cargo/`))) roots.push(...parts(home, ".rustup"));
  roots.push(...homeCaches.map((name) => join(home, name)));
  const wanted = [...new Set(roots)].filter((root) => isShowable(root, home) && existsSync(root));
  // Shorter first, so that a folder below one already taken is left out.
  const sorted = wanted.sort((a, b) => a.length - b.length);
  return sorted.filter(
    (root, at) => ![...shown, ...sorted.slice(0, at)].some((above) => isBelow(root, above)),
  );
}

/** `.../bin` of a toolchain belongs to what lies around it; a folder of the home that holds more is shown in parts. */
function rootsOf(folder: string, home: string, shown: readonly string[]): readonly string[] {
  const part = Object.keys(partsOf).find((name) => isBelow(folder, join(home, name)));
  if (part !== undefined) return [...parts(home, part), ...outsideParts(folder, home, part)];
  const parent = dirname(folder);
  const isPart = ["bin", "sbin", "shims", ".bin", "Scripts"].includes(basename(folder));
  const holdsMore = shown.some((path) => isBelow(path, parent));
  return [isPart && !holdsMore && isShowable(parent, home) && isToolchain(parent) ? parent : folder];
}

/** Whether a folder holds a toolchain and no project: no repository, no settings of somebody's own. */
function isToolchain(folder: string): boolean {
  if (basename(folder) === "node_modules") return true;
  try {
    const names = readdirSync(folder);
    // Version managers in a hidden folder of the home are repositories themselves.
    const isRepository = names.includes(".git") && !basename(folder).startsWith(".");
    return names.some((name) => marks.has(name)) && !isRepository && !names.some((name) => own.test(name));
  } catch {
    return false;
  }
}

function parts(home: string, part: string): readonly string[] {
  return (partsOf[part] ?? []).map((name) => join(home, part, name));
}

/** `~/.local/share/foo/bin` is on the PATH by itself. */
function outsideParts(folder: string, home: string, part: string): readonly string[] {
  return parts(home, part).some((path) => isBelow(folder, path)) ? [] : [folder];
}

/** Never the home itself, nor anything that holds it. */
function isShowable(root: string, home: string): boolean {
  return root !== "/" && !isBelow(home, root);
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}
