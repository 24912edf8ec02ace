/** Which files are tests, and therefore never changed. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isTestFile } from "./test-file.ts";

const TESTS = [
  "test_a.py",
  "pkg/test_a.py",
  "a_test.py",
  "a_tests.py",
  "tests.py",
  "test.py",
  "conftest.py",
  "tests/helper.py",
  "pkg/tests/data.json",
  "a.test.ts",
  "src/a.spec.tsx",
  "a-test.js",
  "a_test.mjs",
  "test.js",
  "test-a.cjs",
  "__tests__/a.js",
  "src/__mocks__/a.js",
  "__snapshots__/a.snap",
  "e2e/login.ts",
  "fixtures/a.py",
  "Test/A.js",
  "tests\\a.py",
];

const SOURCES = [
  "a.py",
  "contest.py",
  "latest.py",
  "attest/a.py",
  "testing.py",
  "src/tester.ts",
  "protest.js",
  "inspect.js",
  "specification.ts",
  "my_tests_runner.py",
  "test_utils/a.py",
];

describe("isTestFile", () => {
  for (const path of TESTS) it(`holds for ${path}`, () => assert.equal(isTestFile(path), true));
  for (const path of SOURCES) it(`does not hold for ${path}`, () => assert.equal(isTestFile(path), false));
});
