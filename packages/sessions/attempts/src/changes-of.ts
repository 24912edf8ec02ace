/** Changes of an attempt, as counts and texts. */
import { type ComparedCopy, type Failure, isFailure } from "@lathe/protocol";
import type { Place } from "./place.ts";
import { type TestChanges, testChanges } from "./test-changes.ts";
import { textDifference } from "./text-difference.ts";

export interface Changes {
  readonly files: number;
  /** Counts of lines in text files. */
  readonly added: number;
  readonly removed: number;
  /** The unified diff of each text, and one line for any other file. */
  readonly diffs: readonly string[];
  /** Changes of tests, and of files that configure or run them. */
  readonly tests: TestChanges;
}

/** *Contract:* only while no program works in the place; `testCommand`: runs the tests, if known. */
export async function changesIn(place: Place, testCommand?: string): Promise<Changes | Failure> {
  const compared = await place.compare();
  return isFailure(compared) ? compared : changesOf(compared, testCommand);
}

/** Files of git itself are no files of the project; folders count by the files in them. */
function changesOf(compared: ComparedCopy, testCommand?: string): Changes {
  const own = compared.differences.filter(
    ({ path, base, fork }) => !/^\.git(\/|$)/.test(path) && ![base.kind, fork.kind].includes("folder"),
  );
  const found = own.map((one) => {
    const diff = textDifference(compared, one);
    return diff === undefined
      ? { diff: `${one.what}: ${Buffer.from(one.path, "latin1").toString()}\n`, added: 0, removed: 0 }
      : { diff, ...linesOf(diff) };
  });
  return {
    files: found.length,
    added: found.reduce((sum, { added }) => sum + added, 0),
    removed: found.reduce((sum, { removed }) => sum + removed, 0),
    diffs: found.map(({ diff }) => diff),
    tests: testChanges(compared, testCommand),
  };
}

function linesOf(diff: string): { readonly added: number; readonly removed: number } {
  // The first two lines are the file names.
  const lines = diff.split("\n").slice(2);
  const count = (mark: string): number => lines.filter((line) => line.startsWith(mark)).length;
  return { added: count("+"), removed: count("-") };
}
