/** Diagnostics text: checkers' findings as a bounded list, the most serious in the requested paths first. */
import { posix } from "node:path";
import {
  type Check,
  type Checked,
  type CheckPlan,
  type CheckReport,
  type Failure,
  isFailure,
  type Problem,
} from "@lathe/protocol";

export interface Answer {
  readonly check: Check;
  readonly report: CheckReport | Failure;
  readonly ms: number;
}

type Reported = Answer & { readonly report: CheckReport };

export interface Told {
  readonly answers: readonly Answer[];
  readonly left: CheckPlan["left"];
  /** The paths as requested. */
  readonly paths: readonly string[];
}

const maxLines = 60;
const maxShown = 6;

/** Which checkers ran, the result of each, and the problems. */
export function diagnosticsText({ answers, left, paths }: Told): string {
  const reports = answers.filter((one): one is Reported => !isFailure(one.report));
  const all = sorted(reports, paths);
  const lines = all.slice(0, maxLines).map(({ problem, checker }) => problemLine(problem, checker));
  const rest = all.slice(maxLines).map(({ problem }) => problem);
  return [
    ...answers.map(answerLine),
    ...left.map(({ checker, why }) => `${checker}: not run, ${why}`),
    ...reports.flatMap(({ report }) => report.notes.map((note) => `[${note}]`)),
    ...lines,
    ...(rest.length > 0 ? [`[${rest.length} more: ${countsText(rest)}; ask for paths to see them]`] : []),
  ].join("\n");
}

export function factsOf(reports: readonly Reported[], paths: readonly string[]): Checked {
  return checkedOf(sorted(reports, paths).map(({ problem }) => problem));
}

/** Keeps only the first problems, for the screen. */
export function checkedOf(problems: readonly Problem[]): Checked {
  return { ...countsOf(problems), problems: problems.slice(0, maxShown) };
}

/** A checker that did not finish has not found the files clean. */
function answerLine({ check, report, ms }: Answer): string {
  const name = `${nameOf(check)} (${(ms / 1_000).toFixed(1)} s)`;
  if (isFailure(report))
    return `${name}: FAILED (${report.code}), its problems are not known: ${report.text}`;
  const { problems, notes } = report;
  const none = notes.length === 0 ? "no problems" : "no problems in what it checked";
  return `${name}: ${problems.length === 0 ? none : countsText(problems)}`;
}

function nameOf({ checker, folder }: Check): string {
  return folder === "" ? checker : `${checker} in ${folder}`;
}

export function problemLine(
  { path, line, column, severity, code, message }: Problem,
  checker: string,
): string {
  return `${path}:${line}:${column} ${severity} ${[checker, code].filter(Boolean).join(" ")}: ${message}`;
}

function countsOf(problems: readonly Problem[]): Omit<Checked, "problems"> {
  const count = (severity: Problem["severity"]): number =>
    problems.filter((one) => one.severity === severity).length;
  return { errors: count("error"), warnings: count("warning") };
}

export function countsText(problems: readonly Problem[]): string {
  const { errors, warnings } = countsOf(problems);
  const notes = problems.length - errors - warnings;
  const counts = [counted(errors, "error"), counted(warnings, "warning"), counted(notes, "note")];
  return counts.filter((one) => one !== undefined).join(", ");
}

function counted(count: number, word: string): string | undefined {
  if (count === 0) return undefined;
  return count === 1 ? `1 ${word}` : `${count} ${word}s`;
}

interface Found {
  readonly problem: Problem;
  readonly checker: string;
}

/** Errors in the requested paths, their other problems, errors elsewhere, the rest; without duplicates. */
function sorted(reports: readonly Reported[], paths: readonly string[]): readonly Found[] {
  const asked = paths.map((path) => posix.normalize(path).replace(/\/$/u, ""));
  const isAsked = (path: string): boolean =>
    asked.some(
      (one) => one === "." || path === one || path.startsWith(`${one}/`) || one.endsWith(`/${path}`),
    );
  const rank = ({ problem }: Found): number =>
    (asked.length > 0 && !isAsked(problem.path) ? 3 : 0) +
    ["error", "warning", "info"].indexOf(problem.severity);
  const once = new Map<string, Found>();
  for (const { check, report } of reports) {
    for (const problem of report.problems) {
      const { path, line, column, message } = problem;
      const key = JSON.stringify([path, line, column, message]);
      if (!once.has(key)) once.set(key, { problem, checker: check.checker });
    }
  }
  return [...once.values()].sort((a, b) => rank(a) - rank(b) || byPlace(a.problem, b.problem));
}

function byPlace(a: Problem, b: Problem): number {
  if (a.path !== b.path) return a.path < b.path ? -1 : 1;
  return a.line - b.line || a.column - b.column;
}
