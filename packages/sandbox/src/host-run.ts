/** What of a workspace programs on the host obey by themselves: git's hooks, editors' tasks, agents' settings. */
import { join } from "node:path";
import { kindOf } from "./kind-of.ts";
import { isBelow } from "./path-order.ts";
import { realPath } from "./real-path.ts";

/** Read when a folder is entered, opened or worked in by an agent, with nobody asked. */
const files: ReadonlySet<string> = new Set(
  ".envrc .autoenv .mcp.json lathe.json opencode.json .aider.conf.yml .devcontainer.json .exrc .nvim.lua .nvimrc .lvimrc .gdbinit .lldbinit".split(
    " ",
  ),
);
const folders: ReadonlySet<string> = new Set(
  ".vscode .idea .zed .fleet .cursor .claude .codex .gemini .opencode .windsurf .roo .continue .kiro .devcontainer .lathe".split(
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

export function hostRunPaths(workspace: string): HostRunPaths {
  const sealed: string[] = [];
  const links: string[] = [];
  for (const name of [...files, ...folders]) {
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
