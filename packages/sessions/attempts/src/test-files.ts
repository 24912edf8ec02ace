/** Recognizes a project's tests, and the files that configure them, by name and by the test command. */

/** Files that only configure tests: a new one counts as a change of the tests, too. */
const configuration =
  /(?:^|\/)(?:conftest\.py|pytest\.ini|\.pytest\.ini|tox\.ini|setup\.cfg|noxfile\.py|\.coveragerc|sitecustomize\.py|usercustomize\.py|(?:GNUm|m|M)akefile|justfile|Justfile|\.justfile|[Tt]askfile(?:\.dist)?\.ya?ml|Rakefile|tasks\.py|dodo\.py|\.rspec|\.mocharc(?:\.\w+)?|\.taprc|\.nycrc(?:\.\w+)?|\.c8rc(?:\.\w+)?|phpunit\.xml(?:\.dist)?|(?:jest|vitest|ava|karma|playwright|cypress|web-test-runner|wdio|nightwatch|jasmine|bunfig|codecept)[\w.-]*\.(?:[cm]?[jt]s|json|toml)|vitest\.workspace\.\w+|\.npmrc|nextest\.toml|Jenkinsfile|\.gitlab-ci\.yml|\.travis\.yml|azure-pipelines\.yml|bitbucket-pipelines\.yml|\.drone\.yml)$|(?:^|\/)\.(?:github\/workflows|circleci|config\/nextest)\//u;

/** Test files: a new one only tests more, so it does not count. */
const tests =
  /(?:^|\/)(?:tests?|__tests__|specs?|e2e|__snapshots__|__mocks__|testing|cypress)\/|[._-](?:test|spec|e2e|cy)\.\w+$|(?:^|\/)test_[^/]*\.\w+$|_test\.\w+$|_spec\.\w+$|(?:^|\/)(?:\w*Tests?|\w*Spec)\.(?:java|kt|cs|swift|scala|groovy|php)$|\.(?:snap|bats)$|(?:^|\/)t\/[^/]*\.t$/u;

/** Installed programs that run the tests. */
const runner =
  /(?:^|\/)(?:node_modules\/(?:\.bin|jest|vitest|mocha|ava|tap|@jest|@vitest|@playwright)\/|\.?venv\/(?:bin|Scripts)\/|vendor\/bin\/)|\/(?:_pytest|pytest|pluggy)\//u;

/** Files that configure tests only in some parts. */
const partly: Readonly<Record<string, RegExp>> = {
  "pyproject.toml":
    /^\[tool\.(?:pytest|tox|nox|hatch\.envs|poe|pdm\.scripts|taskipy|coverage)[\s\S]*?(?=^\[(?!tool\.(?:pytest|tox|nox|hatch|poe|pdm|taskipy|coverage))|(?![\s\S]))/gmu,
  "Cargo.toml": /^\[(?:\[(?:test|bench)\]|profile\.test|alias)[\s\S]*?(?=^\[|(?![\s\S]))/gmu,
  "deno.json": /"tasks"\s*:\s*\{[^}]*\}/gu,
  "composer.json": /"scripts"\s*:\s*\{[^}]*\}/gu,
  "pom.xml": /[^\n]*(?:surefire|failsafe|[sS]kip|[tT]estFailure)[^\n]*/gu,
  "build.gradle": /[^\n]*\b(?:test|ignoreFailures|enabled|exclude)\b[^\n]*/gu,
  "build.gradle.kts": /[^\n]*\b(?:test|ignoreFailures|enabled|exclude)\b[^\n]*/gu,
};

/** Keys of `package.json` that configure tests. */
const keys = ["scripts", "jest", "mocha", "ava", "tap", "vitest", "c8", "nyc", "jasmine", "type", "imports"];

export type Meaning = "configuration" | "tests";

/** Judges by the path alone; `scripts`: files that the test command runs. */
export function meaningOf(path: string, scripts: ReadonlySet<string>): Meaning | undefined {
  if (configuration.test(path)) return "configuration";
  return tests.test(path) || runner.test(path) || scripts.has(path) ? "tests" : undefined;
}

/** The part of a file that configures tests; undefined for files that are not split into parts. */
export function testPart(path: string, text: string | undefined): string | undefined {
  const name = path.slice(path.lastIndexOf("/") + 1);
  if (name === "package.json") return text === undefined ? "" : JSON.stringify(keyed(text));
  const part = Object.hasOwn(partly, name) ? partly[name] : undefined;
  return part && (text?.match(part) ?? []).join("\n");
}

function keyed(text: string): object | string {
  const parsed = objectOf(text);
  return parsed ? keys.map((key) => [key, parsed[key]]) : text;
}

function objectOf(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === "object" && parsed !== null ? (parsed as Record<string, unknown>) : undefined;
  } catch {
    // A file that is not JSON counts as a whole.
    return undefined;
  }
}

/** The file as an attempt left it, but with the original parts that configure tests. */
export function withTestPart(path: string, own: string | undefined, before: string): string {
  const [mine, theirs] = [own === undefined ? undefined : objectOf(own), objectOf(before)];
  if (!path.endsWith("package.json") || !mine || !theirs) return before;
  const mixed = Object.fromEntries(Object.entries(mine).filter(([key]) => !keys.includes(key)));
  for (const key of keys) if (Object.hasOwn(theirs, key)) mixed[key] = theirs[key];
  return `${JSON.stringify(mixed, null, 2)}\n`;
}

/** Files that a command runs: programs of the project, and arguments of interpreters. */
export function scriptsIn(command: string, packageJson: string | undefined): ReadonlySet<string> {
  const scripts = (packageJson === undefined ? undefined : objectOf(packageJson))?.scripts;
  const listed = typeof scripts === "object" && scripts !== null ? (scripts as Record<string, unknown>) : {};
  const texts = [command];
  for (const name of ["pretest", "test", "posttest"]) texts.push(String(listed[name] ?? ""));
  for (const [, name = ""] of texts.join("\n").matchAll(/\brun(?:-script)?\s+(?:-\S+\s+)*([\w:.-]+)/gu))
    texts.push(String(listed[name] ?? ""));
  const named = texts
    .join("\n")
    .split(/[;|&\n]/u)
    .flatMap(runFiles);
  return new Set(named.map((word) => word.replace(/^(?:\.\/+)+/u, "")));
}

/** Programs that only read the files they name. */
const lookers =
  /^(?:grep|egrep|fgrep|rg|diff|cmp|cat|test|\[|jq|wc|head|tail|ls|stat|find|sed|awk|sort|echo|printf)$/u;

function runFiles(command: string): readonly string[] {
  const words = command.match(/[^\s'"`<>()]+/gu) ?? [];
  const program = words.find((word) => !/^\w+=/u.test(word) && word !== "!") ?? "";
  if (lookers.test(program)) return [];
  return words.filter((word) => /^\.\/\S+$|\.(?:[cm]?[jt]s|sh|bash|py|rb|pl|php|lua|exs|t)$/u.test(word));
}

/** Whether a diff adds lines that skip tests, or removes tests, in a file that is not a test file. */
export function isSkipping(diff: string): boolean {
  return (
    /^\+(?!\+\+).*(?:\b(?:it|test|describe|suite|context)\.skip\(|\bx(?:it|describe|test)\(|@pytest\.mark\.(?:skip|xfail)|@(?:unittest\.)?skip\b|#\[ignore|\bt\.Skip(?:Now|f)?\(|@(?:Disabled|Ignore)\b)/mu.test(
      diff,
    ) ||
    /^-(?!--).*(?:#\[(?:\w+::)?test\]|#\[cfg\(test\)\]|^-\s*def test_\w+|\bfunc Test[A-Z]\w*\()/mu.test(diff)
  );
}
