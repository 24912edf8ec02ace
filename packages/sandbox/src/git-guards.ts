/** What of a workspace's git data a command may not change: what git would run later on the host. */
import { mkdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

/** Paths to bind, in order: git's own folders writable but pinned in place, then hooks and settings read-only. */
export interface GitGuards {
  readonly writable: readonly string[];
  readonly readOnly: readonly string[];
}

/** Read anew for each command: a repository may have come to be. */
export function gitGuards(workspace: string): GitGuards {
  const git = join(workspace, ".git");
  const kind = statSync(git, { throwIfNoEntry: false });
  if (!kind) return { writable: [], readOnly: [] };
  if (kind.isDirectory()) return { writable: [git], readOnly: guarded(git) };
  const own = linkedFolder(git);
  if (own === undefined) return { writable: [], readOnly: [git] };
  const common = commonFolder(own);
  return {
    writable: [...new Set([common, own])],
    readOnly: [git, ...guarded(common), ...existing(own, ["config.worktree"])],
  };
}

function guarded(git: string): readonly string[] {
  try {
    // Without it a command could make it, and fill it.
    mkdirSync(join(git, "hooks"), { recursive: true });
  } catch {
    // A repository we may not write is one in which commands may not write either.
  }
  return existing(git, ["hooks", "config", "config.worktree"]);
}

function existing(folder: string, names: readonly string[]): readonly string[] {
  return names.map((name) => join(folder, name)).filter((path) => statSync(path, { throwIfNoEntry: false }));
}

/** Where the `.git` file of a worktree or submodule points, if it points at git data. */
function linkedFolder(file: string): string | undefined {
  const target = /^gitdir: (.+?)\s*$/u.exec(readText(file))?.[1];
  const folder = target && resolve(dirname(file), target);
  // A made-up pointer must not open any folder to writing.
  return folder && /\/\.git\/(worktrees|modules)\//u.test(`${folder}/`) && readText(join(folder, "HEAD"))
    ? folder
    : undefined;
}

function commonFolder(own: string): string {
  const relative = readText(join(own, "commondir")).trim();
  return relative === "" ? own : resolve(own, relative);
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
