/** What of a workspace programs on the host obey by themselves: git's hooks, editors' tasks, agents' settings. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { findRunLaterName, runLaterEntries } from "@lathe/protocol";
import { isBelow, kindOf, realPath } from "@lathe/system/paths";

/** Read-only while commands run. What installing writes anew is only remembered, and so is what lies deeper than the top. */
const sealable: readonly string[] = runLaterEntries
  .filter(({ isRewritten }) => !isRewritten)
  .flatMap(({ paths }) => paths.map((path) => path.replace(/\/$/u, "")))
  .filter((path) => !/[/*]/u.test(path));

function isSealable(name: string): boolean {
  const found = findRunLaterName("", name);
  return found !== undefined && !found.entry.isRewritten;
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
  if (size > smallBytes) return sealable;
  try {
    return readdirSync(workspace).filter(isSealable);
  } catch {
    return sealable;
  }
}
