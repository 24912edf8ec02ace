/** Candidates: commits that fix a bug and change tests with it. */
import { isTestFile } from "@lathe/repair/test-file";
import type { ChangedFile, HistoryCommit } from "./history.ts";

export type Language = "python" | "node";

export interface Candidate {
  readonly commit: HistoryCommit;
  readonly language: Language;
  /** Added or changed test files that a runner accepts. */
  readonly runnable: readonly string[];
  /** All test files that the commit adds or changes, and those that it deletes. */
  readonly tests: readonly string[];
  readonly deletedTests: readonly string[];
  /** All other changes. */
  readonly fix: readonly ChangedFile[];
}

const mending = /\b(?:fix(?:e[sd]|ing)?|bugs?|bugfix|hotfix|regression)\b/i;
/** A commit that closes an issue may add a feature; one that fixes an issue does not. */
const mendingIssue = /\bfix(?:e[sd])?:?\s+(?:#\d|gh-\d|https?:\S+\/issues\/\d)/i;
const otherWork =
  /^(?:feat|docs?|chore|build|ci|style|test|tests|refactor|perf|types?)(?:\([^)]*\))?!?:|\b(?:typos?|lint|readme|changelog|bump|merge branch|dependabot|renovate)\b/i;
const code = /\.(?:py|[cm]?[jt]sx?)$/;
const aside =
  /(?:^|\/)(?:docs?|examples?|bench(?:marks?)?|\.github|scripts|dist|build|vendor)\/|\.d\.[cm]?ts$|\.config\.[cm]?[jt]s$/;
const runnablePython = /(?:^|\/)(?:test_[^/]*|[^/]*_tests?|tests?)\.py$/;
/** A larger change is no single bug fix. */
const maxSources = 6;

export function candidateOf(commit: HistoryCommit): Candidate | undefined {
  const { subject, body } = commit;
  if (otherWork.test(subject) || !(mending.test(subject) || mendingIssue.test(body))) return undefined;
  const there = commit.files.filter(({ status }) => status !== "deleted").map(({ path }) => path);
  const tests = there.filter(isTestFile);
  const sources = commit.files
    .map(({ path }) => path)
    .filter((path) => code.test(path) && !isTestFile(path) && !aside.test(path));
  if (tests.length === 0 || sources.length === 0 || sources.length > maxSources) return undefined;
  const python = tests.filter((path) => runnablePython.test(path));
  const scripts = tests.filter(isRunnableScript);
  const runnable = python.length >= scripts.length ? python : scripts;
  if (runnable.length === 0) return undefined;
  const deletedTests = commit.files
    .filter(({ status, path }) => status === "deleted" && isTestFile(path))
    .map(({ path }) => path);
  const language = runnable === python ? "python" : "node";
  const fix = commit.files.filter(({ path }) => !isTestFile(path));
  return { commit, language, runnable, tests, deletedTests, fix };
}

function isRunnableScript(path: string): boolean {
  return (
    /\.[cm]?[jt]sx?$/.test(path) &&
    !/(?:^|\/)(?:fixtures?|__fixtures__|support|helpers?|utils?)(?:\/|\.)|\.d\.ts$/.test(path)
  );
}
