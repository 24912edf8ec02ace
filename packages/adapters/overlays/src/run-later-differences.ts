/** Run-later differences: which differences of a fork programs on this machine or later sessions run or follow. */
import { type CopyDifference, changedScripts, isHiddenAtTop, isManifest, whyRunLater } from "@lathe/protocol";
import { type CopySides, textAt } from "./copy-bytes.ts";

/** The reason by path. *Contract:* before the differences are applied to the base. */
export function runLaterDifferences(
  differences: readonly CopyDifference[],
  sides: CopySides,
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
  { path: bytes, what, base, fork }: CopyDifference,
  added: ReadonlySet<string>,
): string | undefined {
  // The files in a folder are differences of their own.
  if (fork.kind === "folder") return undefined;
  const path = Buffer.from(bytes, "latin1").toString();
  const modes = { before: modeOf(base), after: modeOf(fork) };
  const [top = bytes] = bytes.split("/");
  return whyRunLater({ path, what, modes }, isHiddenAtTop(path) && added.has(top));
}

function modeOf({ kind, mode }: CopyDifference["base"]): number {
  return kind === "file" ? mode : 0;
}

function scripts({ path: bytes, what, base, fork }: CopyDifference, sides: CopySides): string | undefined {
  const path = Buffer.from(bytes, "latin1").toString();
  if (what === "mode" || fork.kind !== "file" || !isManifest(path)) return undefined;
  const before = base.kind === "file" ? textAt(sides.base, bytes) : undefined;
  return changedScripts(path, { before, after: textAt(sides.upper, bytes) ?? "" });
}
