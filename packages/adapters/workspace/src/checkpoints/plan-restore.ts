/** Plans a restore: its effect on each path, paths it leaves alone, and work it would destroy. */
import { type Failure, failure, type RestoreResult } from "@lathe/protocol";
import { shownPath } from "@lathe/system/paths";
import type { TreeChange } from "./compare-trees.ts";
import { kindOf, skipReason } from "./git-objects.ts";

export type LeftPath = RestoreResult["left"][number];

export interface RestorePlan {
  /** Each folder comes before its content. */
  readonly steps: readonly TreeChange[];
  readonly left: readonly LeftPath[];
}

const shownConflicts = 20;

/** `changes` lead from the present to the wanted state. */
export function planRestore(changes: readonly TreeChange[]): RestorePlan {
  const left = new Map<string, LeftPath["why"]>();
  const steps: TreeChange[] = [];
  for (const change of changes) {
    if (isBelowOne(change.path, left)) continue;
    const why = [change.before, change.after].find((entry) => entry && kindOf(entry.mode) === "skipped");
    if (why) left.set(change.path, skipReason(why.id));
    else steps.push(change);
  }
  return { steps, left: Array.from(left, ([path, why]) => ({ path, why })) };
}

/** `since` lists the differences from the state that the session knows. */
export function conflict(plan: RestorePlan, since: readonly TreeChange[]): Failure | undefined {
  const touched = new Set(since.map(({ path }) => path));
  const lost = plan.steps.filter(({ path }) => touched.has(path)).map(({ path }) => shownPath(path));
  if (lost.length === 0) return undefined;
  const more = lost.length > shownConflicts ? ` and ${lost.length - shownConflicts} more` : "";
  const named = lost.slice(0, shownConflicts).join(", ");
  const text = `Nothing was changed: this would overwrite later changes to ${named}${more}.`;
  return failure("stale-version", text, { who: "user" });
}

export function isBelowOne(
  path: string,
  folders: { readonly size: number; has(path: string): boolean },
): boolean {
  if (folders.size === 0) return false;
  for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1)) {
    if (folders.has(path.slice(0, end))) return true;
  }
  return false;
}
