/** Adds to a change the folders that its files need. */
import { dirname } from "node:path";
import { type Failure, failure } from "@lathe/protocol";
import type { HeldPlaces } from "../held-places.ts";
import { lstatOf } from "../reading/state.ts";
import type { Step } from "./step.ts";

export function withParents(steps: readonly Step[], places: HeldPlaces): readonly Step[] | Failure {
  const all = new Map(steps.map((step) => [step.absolute, step]));
  for (const step of steps) {
    if (step.after.type === "absent" || step.before.type !== "absent") continue;
    places.trim();
    const refused = addParents(step, all, places);
    if (refused) return refused;
  }
  return [...all.values()];
}

function addParents(child: Step, all: Map<string, Step>, places: HeldPlaces): Failure | undefined {
  let { path, absolute } = child;
  for (;;) {
    path = dirname(path);
    absolute = dirname(absolute);
    const known = all.get(absolute);
    const stats = lstatOf(absolute, places);
    if (known?.after.type === "folder") return undefined;
    if (known && known.after.type !== "absent") return noFolder(child, path);
    if (stats?.isDirectory() && !known) return undefined;
    if (stats && !known) return noFolder(child, path);
    all.set(absolute, {
      path,
      absolute,
      before: known?.before ?? { type: "absent" },
      after: { type: "folder" },
    });
  }
}

function noFolder({ path }: Step, above: string): Failure {
  return failure("not-a-file", `${path} cannot be made: ${above} is not a folder.`);
}
