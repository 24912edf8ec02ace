/** What of a workspace programs on the host obey by themselves: git's hooks, editors' tasks, agents' settings. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { kindOf } from "../paths/kind-of.ts";
import { isBelow } from "../paths/path-order.ts";
import { realPath } from "../paths/real-path.ts";

/** Read when a folder is entered, opened or worked in by an agent, with nobody asked. */
const files: ReadonlySet<string> = new Set(
  ".envrc .autoenv .mcp.json lathe.json opencode.json .aider.conf.yml .devcontainer.json .exrc .nvim.lua .nvimrc .lvimrc .gdbinit .lldbinit".split(
    " ",
  ),
);
const folders: ReadonlySet<string> = new Set(
  ".vscode .idea .zed .fleet .cursor .claude .agents .codex .gemini .opencode .windsurf .roo .continue .kiro .devcontainer .lathe".split(
    " ",
  ),
);
/** Remembered and not sealed, since installing packages writes them anew. */
const hookFolders: ReadonlySet<string> = new Set([".husky"]);

export function isHostFile(name: string): boolean {
  return files.has(name) || name.endsWith(".code-workspace");
}

export function isHostFolder(name: string): boolean {
  return folders.has(name) || hookFolders.has(name);
}

/** Those at the workspace's top that are there, to be read-only; and links that stand in for one. */
export interface HostRunPaths {
  readonly sealed: readonly string[];
  readonly links: readonly string[];
}

/** The last answer, and the state of the folder it was given for: it is asked for before each command. */
let last: { readonly stamp: string; readonly paths: HostRunPaths } | undefined;
/** Two changes within one tick of the kernel's clock may have the same time. */
const tickMs = 20;
/** Of a folder with a few dozen names, on the usual file systems. */
const smallBytes = 4096;

export function hostRunPaths(workspace: string): HostRunPaths {
  const stats = kindOf(workspace);
  const stamp = `${workspace} ${stats?.ino} ${stats?.ctimeMs}`;
  if (last?.stamp === stamp) return last.paths;
  const paths = findPaths(workspace, stats?.size ?? 0);
  // Where links lead may change without the folder.
  const isLasting = stats && Date.now() - stats.ctimeMs > tickMs && paths.links.length === 0;
  last = isLasting ? { stamp, paths } : undefined;
  return paths;
}

function findPaths(workspace: string, size: number): HostRunPaths {
  const sealed: string[] = [];
  const links: string[] = [];
  for (const name of namesIn(workspace, size)) {
    const path = join(workspace, name);
    const kind = kindOf(path);
    if (!kind) continue;
    if (!kind.isSymbolicLink()) {
      sealed.push(path);
      continue;
    }
    links.push(path);
    const target = realPath(path);
    if (target && target !== workspace && isBelow(target, workspace)) sealed.push(target);
  }
  return { sealed, links };
}

/** Those that may be there. A small folder is read faster than it is asked for each of them. */
function namesIn(workspace: string, size: number): readonly string[] {
  const names = [...files, ...folders];
  if (size > smallBytes) return names;
  try {
    // On some file systems a name is there in any case of its letters.
    const there = new Set(readdirSync(workspace).map((name) => name.toLowerCase()));
    return names.filter((name) => there.has(name));
  } catch {
    return names;
  }
}
