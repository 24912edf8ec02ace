/** The changes of an attempt in figures and texts, from what its copy differs in. */
import type { Difference } from "@lathe/overlays";
import { textDifference } from "../forks/fork-texts.ts";
import { linesOf } from "./lines-of.ts";
import type { Changes } from "./place.ts";
import { type Sides, testChanges } from "./test-changes.ts";

const noLines = { added: 0, removed: 0 };

/** Git's own data is no change of the project's files; a folder is what is in it. */
export function changesOf(
  differences: readonly Difference[],
  sides: Sides & { readonly command?: string | undefined },
): Changes {
  const text = (difference: Difference): string | undefined => textDifference(sides, difference);
  const own = differences.filter(
    ({ path, base, fork: side }) => !/^\.git(\/|$)/.test(path) && ![base.kind, side.kind].includes("folder"),
  );
  const found = own.map((one) => {
    const diff = text(one);
    return diff === undefined
      ? { diff: `${one.what}: ${Buffer.from(one.path, "latin1").toString()}\n`, ...noLines }
      : { diff, ...linesOf(diff) };
  });
  return {
    files: found.length,
    added: found.reduce((sum, { added }) => sum + added, 0),
    removed: found.reduce((sum, { removed }) => sum + removed, 0),
    diffs: found.map(({ diff }) => diff),
    tests: testChanges(differences, sides, text),
  };
}
