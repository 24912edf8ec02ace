/** Features that a machine may lack, with the expected tier and messages: one row each. */
import assert from "node:assert/strict";
import {
  filtered,
  limited,
  noGroups,
  type RestrictedEnvironment,
  readOnlyRoot,
  unifiedGroups,
} from "./restricted-environments.ts";
import type { MatrixResult, MatrixRun } from "./sandbox-matrix-run.ts";

const compilers = ["cc", "gcc", "clang"];

export interface Row {
  readonly name: string;
  /** Words before the command, or a function that makes them from the row's empty folder. */
  readonly in?: RestrictedEnvironment | ((empty: string) => RestrictedEnvironment);
  /** Programs that must not be found. */
  readonly without?: readonly string[];
  /** Whether the launcher is already in the cache; false if it has to be compiled. */
  readonly isNew?: boolean;
  readonly preference?: MatrixRun["preference"];
  readonly needs?: "root" | "bubblewrap";
  readonly ground?: "worktree" | "linked home" | "empty folder";
  readonly limits?: MatrixRun["limits"];
  /** Replaces the usual script. */
  readonly script?: string;
  readonly says?: RegExp;
  readonly driver: string;
  readonly tier: "full" | "reduced" | "none";
  /** The reasons against the better tiers, in order. */
  readonly reasons: readonly RegExp[];
  readonly holds?: (result: MatrixResult) => void;
}

const full = { driver: "launcher", tier: "full", reasons: [] } as const;
const reduced = { driver: "landlock", tier: "reduced" } as const;
const noSpaces = [/^launcher does not work here: make namespaces/u, /^bubblewrap does not work here/u];
const noBubblewrap = [
  /^launcher does not work here: make namespaces/u,
  /bubblewrap \(bwrap\) is not installed\. Install it/u,
];
const noCompiler = /There is no C compiler for the launcher\. Install one/u;
const memory = "python3 -c 'held = bytearray(600 << 20); print(len(held))'; echo after";
const little = { memoryBytes: 300 * 2 ** 20 };
const commits = "echo 1 > file && git add file && git commit -qm one && git log --format=%s";

export const rows: readonly Row[] = [
  { name: "everything is there", isNew: true, ...full },
  { name: "no bubblewrap", without: ["bwrap"], ...full },
  {
    name: "no compiler, no launcher from before",
    isNew: true,
    without: compilers,
    needs: "bubblewrap",
    driver: "bubblewrap",
    tier: "full",
    reasons: [noCompiler],
  },
  { name: "no compiler, but a launcher from before", without: [...compilers, "bwrap"], ...full },
  {
    name: "neither compiler nor bubblewrap",
    isNew: true,
    without: [...compilers, "bwrap"],
    driver: "none",
    tier: "none",
    reasons: [noCompiler, /bwrap\) is not installed/u],
  },
  {
    name: "no user namespaces: a container's filter",
    in: filtered,
    needs: "bubblewrap",
    ...reduced,
    reasons: noSpaces,
  },
  {
    name: "no user namespaces: the kernel's limit",
    in: limited,
    needs: "bubblewrap",
    ...reduced,
    reasons: noSpaces,
  },
  {
    name: "no user namespaces, no bubblewrap",
    in: filtered,
    without: ["bwrap"],
    ...reduced,
    reasons: noBubblewrap,
  },
  {
    name: "no user namespaces, no compiler",
    isNew: true,
    in: filtered,
    without: [...compilers, "bwrap"],
    driver: "none",
    tier: "none",
    reasons: [noCompiler, /bwrap\) is not installed/u],
  },
  {
    name: "no user namespaces, and only the launcher wanted",
    in: filtered,
    preference: "launcher",
    driver: "none",
    tier: "none",
    reasons: [/^launcher does not work here: make namespaces/u],
  },
  { name: "a git worktree", ground: "worktree", script: commits, says: /^one$/mu, ...full },
  {
    name: "a git worktree, no user namespaces",
    in: filtered,
    without: ["bwrap"],
    ground: "worktree",
    script: commits,
    says: /^one$/mu,
    ...reduced,
    reasons: noBubblewrap,
  },
  { name: "a home that is a link", ground: "linked home", script: commits, says: /^one$/mu, ...full },
  {
    name: "a home that is a link, no user namespaces",
    in: filtered,
    without: ["bwrap"],
    ground: "linked home",
    script: commits,
    says: /^one$/mu,
    ...reduced,
    reasons: noBubblewrap,
  },
  { name: "a root that is read-only", in: readOnlyRoot, needs: "root", ground: "empty folder", ...full },
  {
    name: "a root that is read-only, no user namespaces",
    in: (empty) => [...readOnlyRoot(empty), ...filtered],
    without: ["bwrap"],
    needs: "root",
    ground: "empty folder",
    ...reduced,
    reasons: noBubblewrap,
  },
  {
    name: "control groups, version 1",
    needs: "root",
    limits: little,
    script: memory,
    holds: endedForMemory,
    ...full,
  },
  {
    name: "control groups, version 1, no user namespaces",
    in: filtered,
    without: ["bwrap"],
    needs: "root",
    limits: little,
    script: memory,
    holds: endedForMemory,
    ...reduced,
    reasons: noBubblewrap,
  },
  {
    name: "control groups, version 2, without a controller for memory",
    in: unifiedGroups,
    needs: "root",
    limits: little,
    script: memory,
    says: /MemoryError[\s\S]*after/u,
    ...full,
  },
  {
    name: "no control groups",
    in: noGroups,
    needs: "root",
    limits: little,
    script: memory,
    says: /MemoryError[\s\S]*after/u,
    ...full,
  },
  {
    name: "no control groups, no user namespaces",
    in: [...noGroups, ...filtered],
    without: ["bwrap"],
    needs: "root",
    limits: little,
    script: memory,
    says: /MemoryError[\s\S]*after/u,
    ...reduced,
    reasons: noBubblewrap,
  },
];

function endedForMemory({ outOfMemory, output }: MatrixResult): void {
  assert.ok(outOfMemory && !output?.includes(String(600 << 20)), output);
}
