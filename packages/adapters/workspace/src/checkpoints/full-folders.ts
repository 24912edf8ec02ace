/** Keeps folders that a restore would remove, if they contain entries that no checkpoint has. */
import { readdirSync } from "node:fs";
import { joined } from "@lathe/system/paths";
import { errorCode } from "../file-failure.ts";
import { type HeldPlaces, withPlacesSync } from "../held-places.ts";
import { isFolder, type TreeChange } from "./compare-trees.ts";
import { kindOf, skipReason, type TreeEntry } from "./git-objects.ts";
import type { LeftPath, RestorePlan } from "./plan-restore.ts";

/**
 * `root` has one character per byte; `changes` leads from the present to the wanted state and includes the
 * plan.
 */
export function withoutFullFolders(
  root: string,
  plan: RestorePlan,
  changes: readonly TreeChange[],
): RestorePlan {
  return withPlacesSync((places) => withoutFull({ root, places }, plan, changes));
}

interface Place {
  readonly root: string;
  readonly places: HeldPlaces;
}

function withoutFull(place: Place, plan: RestorePlan, changes: readonly TreeChange[]): RestorePlan {
  const present = new Map(changes.map(({ path, before }) => [path, before]));
  const going = new Set<string>();
  const staying = new Set<string>();
  const left = new Map<string, LeftPath>(plan.left.map((one) => [one.path, one]));
  // A folder comes before its content, so start from the end.
  for (const step of plan.steps.toReversed()) {
    const rest = makesWay(step) ? namesIn(place, step.path).filter((path) => !going.has(path)) : [];
    if (rest.length > 0) staying.add(step.path);
    else if (step.before && !step.after) going.add(step.path);
    const unheld = rest.filter((path) => !left.has(path) && !staying.has(path));
    for (const path of unheld) left.set(path, { path, why: reasonFor(path, present.get(path)) });
  }
  return { steps: plan.steps.filter(({ path }) => !staying.has(path)), left: [...left.values()] };
}

/** A folder that another kind of entry replaces, or that is removed. */
function makesWay({ before, after }: TreeChange): boolean {
  return isFolder(before) && !isFolder(after);
}

const histories: ReadonlySet<string> = new Set([".git", ".hg", ".svn", ".jj"]);

function reasonFor(path: string, present: TreeEntry | undefined): LeftPath["why"] {
  if (present && kindOf(present.mode) === "skipped") return skipReason(present.id);
  return histories.has(path.slice(path.lastIndexOf("/") + 1)) ? "repository" : "added-since";
}

function namesIn({ root, places }: Place, path: string): readonly string[] {
  places.trim();
  try {
    return readdirSync(places.folder(joined(root, path)).reached, "latin1").map((name) => joined(path, name));
  } catch (error) {
    // Gone or unreadable: its removal will report that.
    errorCode(error);
    return [];
  }
}
