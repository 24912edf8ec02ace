/** Git data that a command cannot change while it runs: the hooks, and the location of the data. */
import { mkdirSync, readdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { readSmallText } from "@lathe/system";
import { isBelow, kindOf, realPath, statsOf } from "@lathe/system/paths";

/** Paths to bind, in order: git's own folders writable but pinned in place, then hooks read-only. */
export interface GitGuards {
  readonly writable: readonly string[];
  readonly readOnly: readonly string[];
  /** Symbolic links in place of such a path; drivers that can do so keep them from being replaced. */
  readonly links: readonly string[];
}

/** Read again for each command: a repository may have been created. */
export function gitGuards(workspace: string, home: string): GitGuards {
  const top = kindOf(join(workspace, ".git")) ? workspace : repositoryAbove(workspace, home);
  const git = top && join(top, ".git");
  const kind = git && statsOf(git);
  if (!git || !kind) return { writable: [], readOnly: [], links: [] };
  if (kind.isDirectory()) return { writable: [git], ...sealed(workspace, guarded(git)) };
  const own = linkedFolder(git);
  if (own === undefined) return { writable: [], readOnly: [git], links: [] };
  const common = commonFolder(own);
  const paths = [git, ...guarded(common)];
  return { writable: [...new Set([common, own])], ...sealed(workspace, paths) };
}

/**
 * Top of the repository that contains the workspace; never a folder that contains the home, or another
 * user's.
 */
export function repositoryAbove(workspace: string, home: string): string | undefined {
  for (let at = dirname(workspace); at !== "/" && !isBelow(home, at); at = dirname(at)) {
    const git = kindOf(join(at, ".git"));
    if (!git) continue;
    return git.uid === process.getuid?.() && isRepository(join(at, ".git")) ? at : undefined;
  }
  return undefined;
}

function isRepository(git: string): boolean {
  const folder = kindOf(git)?.isDirectory() ? git : linkedFolder(git);
  return folder !== undefined && readText(join(folder, "HEAD")) !== "";
}

/** Files that git runs from a git folder, and from the folders of its submodules. */
function guarded(git: string): readonly string[] {
  try {
    // If it were missing, a command could create and fill it.
    mkdirSync(join(git, "hooks"), { recursive: true });
  } catch {
    // If Lathe cannot write this repository, commands cannot either.
  }
  const folders = [git, ...modules(join(git, "modules"))];
  return folders.map((folder) => join(folder, "hooks"));
}

/** A submodule's name may contain slashes: its folder is the one with a HEAD. */
function modules(folder: string): readonly string[] {
  const names = readdirNames(folder);
  return names.flatMap((name) => {
    const path = join(folder, name);
    return readText(join(path, "HEAD")) === "" ? modules(path) : [path, ...modules(join(path, "modules"))];
  });
}

/** The existing paths; for a link, the link itself and its target inside the workspace. */
function sealed(workspace: string, paths: readonly string[]): Pick<GitGuards, "readOnly" | "links"> {
  const readOnly: string[] = [];
  const links: string[] = [];
  for (const path of paths) {
    const kind = kindOf(path);
    if (!kind) continue;
    if (!kind.isSymbolicLink()) {
      readOnly.push(path);
      continue;
    }
    links.push(path);
    const target = realPath(path);
    if (target && isBelow(target, workspace)) readOnly.push(target);
  }
  return { readOnly, links };
}

/** Target of the `.git` file of a worktree or submodule, if it is git data that points back. */
function linkedFolder(file: string): string | undefined {
  const target = /^gitdir: (.+?)\s*$/u.exec(readText(file))?.[1];
  const folder = target && resolve(dirname(file), target);
  // A forged pointer must not make any folder writable.
  if (!folder || !/\/\.git\/(worktrees|modules)\//u.test(`${folder}/`)) return undefined;
  return readText(join(folder, "HEAD")) !== "" && pointsBack(folder, file) ? folder : undefined;
}

function pointsBack(folder: string, file: string): boolean {
  const worktree = readText(join(folder, "gitdir")).trim();
  const back = worktree === "" ? submodulePath(folder) : resolve(folder, worktree);
  return back !== undefined && realPath(back) === realPath(file);
}

function submodulePath(folder: string): string | undefined {
  const tree = /^\s*worktree = (.+?)\s*$/mu.exec(readText(join(folder, "config")))?.[1];
  return tree === undefined ? undefined : join(resolve(folder, tree), ".git");
}

function commonFolder(own: string): string {
  const relative = readText(join(own, "commondir")).trim();
  return relative === "" ? own : resolve(own, relative);
}

function readdirNames(folder: string): readonly string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  } catch {
    return [];
  }
}

const maxBytes = 4_000_000;

function readText(path: string): string {
  return readSmallText(path, maxBytes) ?? "";
}
