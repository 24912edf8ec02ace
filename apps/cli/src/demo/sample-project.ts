/** The sample project of the demo: a fresh copy with a bug in it. */
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Failure, failure } from "@lathe/protocol";
import { hostProgram } from "@lathe/system";
import type { Bug } from "./bugs.ts";

const source = fileURLToPath(new URL("../../demo/shop", import.meta.url));

export interface SampleProject {
  readonly folder: string;
  /** The line number of the bug, from 1, and the line before and after. */
  readonly line: number;
  readonly before: string;
  readonly after: string;
  remove(): void;
}

/** Copies the project to a fresh folder, commits it if git is available, and adds the bug. */
export function makeSampleProject(bug: Bug): SampleProject | Failure {
  try {
    const folder = mkdtempSync(join(realpathSync(tmpdir()), "lathe-demo-"));
    const remove = (): void => rmSync(folder, { recursive: true, force: true });
    return { folder, remove, ...filled(folder, bug) };
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const text = `the sample project cannot be made in ${tmpdir()} (${code}); set TMPDIR to a folder with some space`;
    return failure("no-access", text, { who: "host", cause });
  }
}

function filled(folder: string, bug: Bug): Omit<SampleProject, "folder" | "remove"> {
  cpSync(source, folder, { recursive: true });
  const path = join(folder, bug.file);
  const good = readFileSync(path, "utf8");
  const bad = good.replace(bug.find, () => bug.replace);
  writeFileSync(path, bad);
  commitAll(folder);
  return firstDifference(good, bad);
}

/** Restores the original tests. */
export function restoreTests(folder: string): void {
  cpSync(join(source, "test"), join(folder, "test"), { recursive: true });
}

function firstDifference(good: string, bad: string): Omit<SampleProject, "folder" | "remove"> {
  const [before, after] = [good.split("\n"), bad.split("\n")];
  const index = before.findIndex((line, i) => line !== after[i]);
  return { line: index + 1, before: before[index] ?? "", after: after[index] ?? "" };
}

/** Commits once, so that `git diff` shows the agent's changes. The demo also works without git. */
function commitAll(folder: string): void {
  const identity = ["-c", "user.name=lathe demo", "-c", "user.email=demo@example.invalid"];
  const steps = [
    ["init", "-q"],
    ["add", "-A"],
    [...identity, "commit", "-q", "-m", "A shop with a bug"],
  ];
  const git = hostProgram("git", process.env);
  for (const args of git === undefined ? [] : steps) {
    const { status } = spawnSync(git ?? "", args, { cwd: folder, stdio: "ignore" });
    if (status !== 0) return;
  }
}
