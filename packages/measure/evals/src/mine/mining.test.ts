/** Mining's conclusions from commits, messages and runs. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fc } from "@lathe/testkit/properties";
import { candidateOf } from "./candidates.ts";
import { addedLines, instructionOf } from "./instruction.ts";
import { judge, type Outcome, type TestRun } from "./outcomes.ts";
import { runnerOf, setUpsOf } from "./set-up.ts";

const commit = (subject: string, ...paths: readonly string[]) => ({
  id: "b".repeat(40),
  parent: "a".repeat(40),
  subject,
  body: "",
  files: paths.map((path) => ({ status: "changed" as const, path })),
});

describe("a candidate", () => {
  it("fixes a bug, with tests and sources", () => {
    const found = candidateOf(commit("fix: wrong sum (#12)", "src/sum.ts", "test/sum.test.ts", "README.md"));
    assert.equal(found?.language, "node");
    assert.deepEqual(found?.runnable, ["test/sum.test.ts"]);
    assert.deepEqual(
      found?.fix.map(({ path }) => path),
      ["src/sum.ts", "README.md"],
    );
    assert.equal(candidateOf(commit("Fixed #3", "pkg/a.py", "tests/test_a.py"))?.language, "python");
  });
  it("may describe the fix in an issue", () => {
    const said = { ...commit("Sums of nothing", "src/sum.ts", "test/sum.test.ts"), body: "Fixes #12." };
    assert.ok(candidateOf(said));
    assert.equal(candidateOf({ ...said, body: "Closes #12, fix tests." }), undefined);
  });
  for (const [why, found] of [
    ["adds something", commit("Sums", "src/sum.ts", "test/sum.test.ts")],
    ["says that it does", commit("feat: fix sums too", "src/sum.ts", "test/sum.test.ts")],
    ["mends a text", commit("docs: fix a typo", "src/sum.ts", "test/sum.test.ts")],
    ["changes no tests", commit("fix: wrong sum", "src/sum.ts")],
    ["changes tests alone", commit("fix: wrong sum", "test/sum.test.ts")],
    ["changes only what tests read", commit("fix: wrong sum", "src/sum.ts", "test/fixtures/a.json")],
    ["changes too much", commit("fix: all", "t.test.ts", ...[..."abcdefgh"].map((name) => `src/${name}.ts`))],
  ] as const) {
    it(`is rejected if it ${why}`, () => assert.equal(candidateOf(found), undefined));
  }
});

describe("an instruction", () => {
  const told = {
    subject: "fix(sum): wrong for negative numbers (#12)",
    body: "`sum(-1)` gives 1.\n\nUse Math.abs only where it is wanted.\n\nCo-authored-by: A <a@b.example>\nFixes #12",
    failures: [
      { test: "sum > negative", said: "\u001b[31mAssertionError\u001b[0m: 1 == -1\n    at node:internal/x" },
    ],
    fix: ["  return numbers.reduce((a, b) => a + b);"],
    shown: false,
  };
  it("describes the bug and the failing tests, and omits the fix", () => {
    const text = instructionOf(told);
    assert.match(text, /^# wrong for negative numbers\n/);
    assert.match(text, /`sum\(-1\)` gives 1\./);
    assert.match(text, /AssertionError: 1 == -1/);
    assert.ok(!text.includes("\u001b"));
    assert.doesNotMatch(text, /Math\.abs|Co-authored|#12|node:internal/);
  });
  it("contains no line of the fix, wherever it was quoted", () => {
    const word = fc.constantFrom("return", "numbers", "a + b", "if (x)", "\n", "{", "}", "  ");
    const text = fc.array(word, { maxLength: 30 }).map((words) => words.join(" "));
    const plain = (line: string): string => line.replace(/\s+/g, "");
    fc.assert(
      fc.property(
        text,
        text,
        fc.array(
          text.map((one) => one.replaceAll("\n", "")),
          { maxLength: 5 },
        ),
        (body, said, fix) => {
          const made = instructionOf({ ...told, body, failures: [{ test: "t", said }], fix });
          const secret = fix.map(plain).filter((line) => line.length >= 12);
          return made.split("\n").every((line) => secret.every((one) => !plain(line).includes(one)));
        },
      ),
    );
  });
  it("reads the added lines of a patch", () => {
    assert.deepEqual(addedLines("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+  new\n"), ["new"]);
  });
});

describe("the outcomes of runs", () => {
  const run = (tests: Readonly<Record<string, Outcome>>): TestRun => ({ tests, said: {} });
  const before = run({ a: "failed", b: "passed", c: "passed", d: "skipped" });
  const after = run({ a: "passed", b: "passed", c: "passed", d: "passed" });
  it("list the tests that must pass", () => {
    assert.deepEqual(judge([before, before, before], [after, after, after]), {
      due: { failToPass: ["a"], passToPass: ["b", "c"] },
    });
  });
  it("omit tests that do not end the same way each time", () => {
    const flaky = run({ ...before.tests, c: "failed" });
    const judged = judge([before, flaky, before], [after, after, after]);
    assert.deepEqual(judged, { due: { failToPass: ["a"], passToPass: ["b"] } });
  });
  for (const [why, first, second] of [
    [/pass without the fix/, run({ a: "passed" }), run({ a: "passed" })],
    [/fail with the fix too, such as a/, run({ a: "failed" }), run({ a: "failed" })],
    [/cannot be loaded without/, run({ "a.test.ts": "failed" }), run({ "a > b": "passed" })],
    [/breaks what passed before, such as b/, before, run({ ...after.tests, b: "failed" })],
    [/no test ran/, run({}), after],
  ] as const) {
    it(`make no task if ${why.source}`, () => {
      const judged = judge([first], [second]);
      assert.ok("why" in judged);
      assert.match(judged.why, why);
    });
  }
});

describe("a set-up", () => {
  const tools = { python: "3.12", node: "24", pnpm: false };
  const reading = (files: Readonly<Record<string, string>>) => (path: string) => files[path];
  it("uses the lock file if there is one, and runs no package scripts", () => {
    const locked = reading({ "package.json": "{}", "package-lock.json": "{}" });
    assert.match(setUpsOf("node", locked, tools)[0]?.run[0] ?? "", /^npm ci --ignore-scripts/);
    const pnpm = reading({ "package.json": "{}", "pnpm-lock.yaml": "" });
    assert.match(
      setUpsOf("node", pnpm, { ...tools, pnpm: true })[0]?.run[0] ?? "",
      /^pnpm install .*--ignore-scripts/,
    );
    assert.match(setUpsOf("node", pnpm, tools)[0]?.run[0] ?? "", /^npm install --ignore-scripts/);
  });
  it("tries the groups, extras and files that tests need, and finally nothing", () => {
    const pyproject = `[project.optional-dependencies]\ntests = ["x"]\n[dependency-groups]\ntest = ["y>1", {include-group = "more"}]\nmore = ["z"]\n`;
    const ways = setUpsOf("python", reading({ "pyproject.toml": pyproject, "requirements.txt": "" }), tools);
    const last = ways.map(({ run }) => run.at(-1)?.replace(/^.*pip install \S+ \S+ /, ""));
    assert.deepEqual(last, [
      "-e . pytest 'y>1' z",
      "-e '.[tests]' pytest",
      "-e . pytest -r requirements.txt",
      "-e . pytest",
      "pytest",
    ]);
  });
  it("finds the runner and the options that control how files are loaded", () => {
    const manifest = (test: string, dependency?: string): ReturnType<typeof runnerOf> =>
      runnerOf(
        "node",
        reading({
          "package.json": JSON.stringify({
            scripts: { test },
            devDependencies: { [dependency ?? "x"]: "1" },
          }),
        }),
      );
    assert.equal(manifest("vitest", "vitest")?.runner, "vitest");
    assert.deepEqual(
      manifest("nyc mocha --reporter dot --require @babel/register --recursive test/ && lint", "mocha"),
      {
        runner: "mocha",
        args: ["--require", "@babel/register", "--recursive"],
        suite: ["test/"],
      },
    );
    assert.deepEqual(manifest("node --import tsx --test 'test/*.ts'"), {
      runner: "node",
      args: ["--import", "tsx"],
      suite: [],
    });
    assert.equal(manifest("make test"), undefined);
    assert.equal(runnerOf("node", reading({ "package.json": "{" })), undefined);
  });
});
