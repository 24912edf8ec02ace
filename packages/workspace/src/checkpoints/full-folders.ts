/** Folders that would go but hold what no checkpoint does: they stay. */
import { readdirSync } from "node:fs";
import type { SkipReason } from "@lathe/protocol";
import { errorCode } from "../file-failure.ts";
import { diskPath, joined } from "./byte-path.ts";
import type { TreeChange } from "./compare-trees.ts";
import { kindOf, type TreeEntry } from "./git-objects.ts";
import type { LeftPath, RestorePlan } from "./plan-restore.ts";

/** `root`: one character per byte. */
export function withoutFullFolders(root: string, plan: RestorePlan): RestorePlan {
  const going = new Set<string>();
  const staying = new Set<string>();
  const left = new Map<string, LeftPath>(plan.left.map((one) => [one.path, one]));
  // What is in a folder comes after it, so from the end.
  for (const step of plan.steps.toReversed()) {
    const rest = makesWay(step) ? namesIn(root, step.path).filter((path) => !going.has(path)) : [];
    if (rest.length > 0) staying.add(step.path);
    else if (step.before && !step.after) going.add(step.path);
    const unheld = rest.filter((path) => !left.has(path) && !staying.has(path));
    for (const path of unheld) left.set(path, { path, why: reasonFor(path) });
  }
  return { steps: plan.steps.filter(({ path }) => !staying.has(path)), left: [...left.values()] };
}

/** A folder that is to be none. */
function makesWay({ before, after }: TreeChange): boolean {
  return isFolder(before) && !isFolder(after);
}

function reasonFor(path: string): SkipReason {
  return path.endsWith("/.git") ? "repository" : "special";
}

function isFolder(entry: TreeEntry | undefined): boolean {
  return entry !== undefined && kindOf(entry.mode) === "folder";
}

function namesIn(root: string, path: string): readonly string[] {
  try {
    return readdirSync(diskPath(joined(root, path)), "latin1").map((name) => joined(path, name));
  } catch (error) {
    // Gone, or closed to us: removing it will say so.
    errorCode(error);
    return [];
  }
}
