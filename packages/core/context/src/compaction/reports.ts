/** Reports: machine-readable output of runners, in JSON or JUnit XML. */
import { parseJson } from "@lathe/protocol";
import { junitReport } from "./junit-report.ts";
import { insideOf } from "./places.ts";
import { plainLines } from "./plain-lines.ts";
import type { Report, Reported } from "./report.ts";

/** Longer texts are not parsed, since it would take too long. */
const maxChars = 16_000_000;
/** Maximum number of documents to read in one output. */
const maxReports = 8;

/** `rest` is the text around the reports. `cwd`: the workspace, whose absolute paths are shortened. */
export function reportsIn(
  text: string,
  cwd: string,
): { readonly reports: readonly Report[]; readonly rest: string } {
  const reports: Report[] = [];
  let rest = text;
  for (let tried = 0; tried < maxReports && rest.length <= maxChars; tried++) {
    // All XML reports at once.
    const found = (tried === 0 && junitReport(rest)) || jsonReport(rest, cwd);
    if (!found) break;
    const { report } = found;
    // Source code may contain a report: one without failures must be most of the output.
    const isMost = rest.length - found.rest.length > rest.length / 2;
    if (report.failing.length + report.errors.length > 0 || isMost) reports.push(report);
    rest = found.rest;
  }
  return { reports, rest };
}

/** Every known JSON report contains one of these; nothing else is parsed. */
const telling = /"(?:assertionResults|fullTitle|ruleId)"\s*:/;
/** Maximum number of possible first lines to try. */
const maxTried = 4;

/** Undefined if there is no known report, or it was truncated. */
function jsonReport(text: string, cwd: string): Reported | undefined {
  if (!telling.test(text)) return undefined;
  const begins = text.matchAll(/^(?:\{\s*"|\[\s*\{)/gm).take(maxTried);
  for (const { index: from } of begins) {
    for (const to of endsOf(text, from)) {
      const report = reportOf(parseJson(text.slice(from, to)), cwd);
      if (report) return { report, rest: `${text.slice(0, from)}\n${text.slice(to)}` };
    }
  }
  return undefined;
}

/** The end of its line, and the end of the last line that may close it. */
function endsOf(text: string, from: number): readonly number[] {
  const newline = text.indexOf("\n", from);
  const ofLine = newline < 0 ? text.length : newline;
  const last = Math.max(text.lastIndexOf("\n}"), text.lastIndexOf("\n]"));
  return last > from ? [ofLine, last + 2] : [ofLine];
}

function reportOf(value: unknown, cwd: string): Report | undefined {
  if (Array.isArray(value)) return eslintReport(value, cwd);
  const one = asObject(value);
  if (Array.isArray(one.testResults)) return jestReport(one, cwd);
  return Array.isArray(one.failures) && one.stats !== undefined ? mochaReport(one) : undefined;
}

/** The JSON of jest, and of vitest, which uses the same format. */
function jestReport(value: Fields, cwd: string): Report {
  const isJest = "numRuntimeErrorTestSuites" in value;
  const files = listOf(value.testResults).map((file) => {
    const name = insideOf(textOf(file.name), cwd);
    const tests = listOf(file.assertionResults);
    const failed = tests.filter(({ status }) => status === "failed");
    // The file could not be run at all.
    const isBroken = file.status === "failed" && tests.length === 0;
    const titles = failed.map((test) => [...textsOf(test.ancestorTitles), textOf(test.title)]);
    const failing = titles.map((parts) => (isJest ? parts.join(" › ") : [name, ...parts].join(" > ")));
    const messages = failed.flatMap(({ failureMessages }) => textsOf(failureMessages).slice(0, 1));
    const broken = isBroken ? [textOf(file.message)] : [];
    return { failing: isBroken ? [name] : failing, messages: [...messages, ...broken].map(plainLines) };
  });
  const messages = files.flatMap((file) => file.messages);
  const of = (what: string): string => `${value[`num${what}`] ?? 0}`;
  return {
    runner: isJest ? "jest" : "vitest",
    failing: files.flatMap(({ failing }) => failing),
    errors: messages.flatMap(errorsOf),
    counts: [`Tests: ${of("FailedTests")} failed, ${of("PassedTests")} passed, ${of("TotalTests")} total`],
    words: messages.flat(),
  };
}

function mochaReport(value: Fields): Report {
  const failures = listOf(value.failures);
  const stats = asObject(value.stats);
  const errors = failures.map(({ err }) => asObject(err));
  const messages = errors.map(({ stack, message }) => plainLines(textOf(stack) || textOf(message)));
  return {
    runner: "mocha",
    failing: failures.map(({ fullTitle }) => textOf(fullTitle)),
    errors: messages.flatMap(errorsOf),
    counts: [`${stats.passes ?? 0} passing, ${stats.failures ?? 0} failing, ${stats.pending ?? 0} pending`],
    words: messages.flat(),
  };
}

/** The JSON of a linter in ESLint's format. */
function eslintReport(files: readonly unknown[], cwd: string): Report | undefined {
  const all = files.map(asObject);
  if (all.length === 0 || !all.every(({ filePath, messages }) => filePath && Array.isArray(messages)))
    return undefined;
  const problems = all.flatMap(({ filePath, messages }) =>
    listOf(messages).map((problem): Fields => ({ ...problem, path: insideOf(textOf(filePath), cwd) })),
  );
  const count = (severity: number): number => problems.filter((one) => one.severity === severity).length;
  return {
    runner: "eslint",
    failing: [],
    // As in ESLint's text output: the rule after two spaces.
    errors: problems.map(({ message, ruleId }) => `${textOf(message)}  ${textOf(ruleId)}`.trimEnd()),
    counts: [`${problems.length} problems (${count(2)} errors, ${count(1)} warnings)`],
    words: problems.map(({ path, line, column }) => `${path}:${line}:${column}`),
  };
}

/** The first line of a message, and the expected value. */
function errorsOf(message: readonly string[]): readonly string[] {
  const lines = message.map((line) => line.trim());
  // A headline of jest for a file that could not be run.
  const [first, ...others] = lines.filter((line) => line !== "" && !line.startsWith("●"));
  const expected = others.filter((line) => /^(?:Expected|Received)[^:]*: ./.test(line));
  return first === undefined ? [] : [first, ...expected];
}

type Fields = Readonly<Record<string, unknown>>;

function asObject(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}

function listOf(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.map(asObject) : [];
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
}
