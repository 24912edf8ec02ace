/** Run-later differences: which differences of a fork programs on this machine or later sessions run or follow. */

import type { Difference } from "@lathe/overlays";
import type { Fork } from "@lathe/overlays/fork";
import { changedScripts, isHiddenAtTop, isManifest, whyRunLater } from "@lathe/protocol";
import { textAt } from "./fork-texts.ts";

/** Why, by path; while the base is as it was. */
export function runLaterDifferences(
  differences: readonly Difference[],
  sides: Pick<Fork, "base" | "upper">,
): ReadonlyMap<string, string> {
  const added = new Set(differences.filter(({ what }) => what === "added").map(({ path }) => path));
  return new Map(
    differences.flatMap((one) => {
      const why = whyOf(one, added) ?? scripts(one, sides);
      return why === undefined ? [] : [[one.path, why] as const];
    }),
  );
}

function whyOf(
  { path: bytes, what, base, fork }: Difference,
  added: ReadonlySet<string>,
): string | undefined {
  // A folder is told by what is in it.
  if (fork.kind === "folder") return undefined;
  const path = Buffer.from(bytes, "latin1").toString();
  const modes = { before: modeOf(base), after: modeOf(fork) };
  const [top = bytes] = bytes.split("/");
  return whyRunLater({ path, what, modes }, isHiddenAtTop(path) && added.has(top));
}

function modeOf({ kind, mode }: Difference["base"]): number {
  return kind === "file" ? mode : 0;
}

function scripts(
  { path: bytes, what, base, fork }: Difference,
  sides: Pick<Fork, "base" | "upper">,
): string | undefined {
  const path = Buffer.from(bytes, "latin1").toString();
  if (what === "mode" || fork.kind !== "file" || !isManifest(path)) return undefined;
  const before = base.kind === "file" ? textAt(sides.base, bytes) : undefined;
  return changedScripts(path, { before, after: textAt(sides.upper, bytes) ?? "" });
}
