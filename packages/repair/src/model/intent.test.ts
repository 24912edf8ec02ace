/** What the user's words ask for. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { intentOf } from "./intent.ts";

const REPAIR = [
  "fix the failing tests",
  "fix it",
  "The test suite is broken, please repair it",
  "make the tests pass",
  "get pytest green again",
  "the build fails with an assertion error, find the bug",
  "run the tests and fix what fails",
  "debug this",
  "make sure that the tests pass",
];
const RUN = [
  "run the tests",
  "please execute the test suite",
  "start the unit tests",
  "check the tests",
  "`npm test`",
  "do all tests pass?",
  "do the tests pass",
  "are the tests green?",
  "check whether the tests pass",
  "is the test suite passing?",
  "why does last.test.js fail",
];
const OTHER = [
  "hello",
  "",
  "write a test for calc.py",
  "add a feature",
  "rename the failing test",
  "explain why the tests fail",
  "what is a monad?",
  "summarize the repository",
];

const COMMANDS: readonly (readonly [asked: string, command: string | undefined])[] = [
  ["fix the tests with `npm test`", "npm test"],
  ["fix it, run npm test", "npm test"],
  ["run pytest -x tests/test_a.py and fix it", "pytest -x tests/test_a.py"],
  ["run pytest", "pytest"],
  ["fix the pytest failures", undefined],
  ["fix `CI=1 npx jest --ci`", "CI=1 npx jest --ci"],
  ["make `python3 -m unittest discover -s tests` pass", "python3 -m unittest discover -s tests"],
  ["fix test.py: python3 test.py fails.", "python3 test.py"],
  ["fix it; `uv run pytest -q` fails", "uv run pytest -q"],
  ["fix it; `.venv/bin/python -m pytest` fails", ".venv/bin/python -m pytest"],
  ["fix it; `cd app && npm test` fails", "cd app && npm test"],
  ["fix the tests of `run_pytest`", undefined],
  ["fix the tests", undefined],
];

const FILES: readonly (readonly [asked: string, files: readonly string[]])[] = [
  ["fix src/a.py", ["src/a.py"]],
  ["fix `src/a.py`, src/b.ts and (c.mjs).", ["src/a.py", "src/b.ts", "c.mjs"]],
  ["fix a.py and a.py", ["a.py"]],
  ["fix the tests", []],
];

describe("intentOf", () => {
  for (const asked of REPAIR) it(`repairs: ${asked}`, () => assert.equal(intentOf(asked).type, "repair"));
  for (const asked of RUN) it(`runs tests: ${asked}`, () => assert.equal(intentOf(asked).type, "run-tests"));
  for (const asked of OTHER)
    it(`cannot: ${JSON.stringify(asked)}`, () => assert.equal(intentOf(asked).type, "other"));

  for (const [asked, command] of COMMANDS)
    it(`command of: ${asked}`, () => {
      const intent = intentOf(asked);
      assert.equal(intent.type === "other" ? "other" : intent.command, command);
    });

  for (const [asked, files] of FILES)
    it(`files of: ${asked}`, () => {
      const intent = intentOf(asked);
      assert.deepEqual(intent.type === "repair" && intent.files, files);
    });
});
