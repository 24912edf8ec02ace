/** Which folders outside the system's own hold the programs on a PATH, and nothing secret beside them. */
import { existsSync, realpathSync } from "node:fs";
import { delimiter, dirname, isAbsolute, join } from "node:path";
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

/** Real folders and files to show read-only, for a PATH; those below `shown` are left out. */
export function toolchainPaths(path: string, home: string, shown: readonly string[]): readonly string[] {
  const folders = path.split(delimiter).filter((folder) => isAbsolute(folder) && existsSync(folder));
  const programs = followed.flatMap((name) => findProgram(name, path) ?? []);
  const real = programs.flatMap((program) => realPath(program) ?? []).map(dirname);
  const roots = [...folders, ...real].flatMap((folder) => rootsOf(folder, home));
  if (roots.some((root) => root.startsWith(`${home}/.cargo/`))) roots.push(...parts(home, ".rustup"));
  roots.push(...homeCaches.map((name) => join(home, name)));
  const wanted = [...new Set(roots)].filter((root) => isShowable(root, home) && existsSync(root));
  // Shorter first, so that a folder below one already taken is left out.
  const sorted = wanted.sort((a, b) => a.length - b.length);
  return sorted.filter(
    (root, at) => ![...shown, ...sorted.slice(0, at)].some((above) => isBelow(root, above)),
  );
}

/** `.../bin` belongs to what lies around it; a folder of the home that holds more is shown in parts. */
function rootsOf(folder: string, home: string): readonly string[] {
  const part = Object.keys(partsOf).find((name) => isBelow(folder, join(home, name)));
  if (part !== undefined) return [...parts(home, part), ...outsideParts(folder, home, part)];
  const name = folder.slice(folder.lastIndexOf("/") + 1);
  const parent = dirname(folder);
  const isPart = ["bin", "sbin", "shims", ".bin", "Scripts"].includes(name);
  return [isPart && parent !== home && parent !== "/" ? parent : folder];
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
