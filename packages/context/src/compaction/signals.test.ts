import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { signalText } from "./signal-text.ts";
import { signalsOf } from "./signals.ts";

const cwd = "/workspace";
const output = (name: string): string =>
  readFileSync(new URL(`./fixtures/${name}.txt`, import.meta.url), "utf8");

const cases = [
  "0 of the ledger",
  "1 of the parser",
  "2 of the router",
  "6 of the router",
  "10 of the router",
];
const js = [...cases, "15 of the cache"].map((one) => `handles case ${one}`);
const jsErrors = ["TypeError", "RangeError", "SyntaxError", "ReferenceError", "CustomFault"];
const nodeWords = ["bad type", "before hook boom", "test timed out after 20ms", "just a string"];
const pyNames = ["test_param[a b]", "test_param[\\xfc - \\xf6]", "TestK::test_multi", "test_teardown"].map(
  (one) => `test_a.py::${one}`,
);
const pyCounts = /^12 failed, 1 passed, 2 errors in [\d.]+s$/;
const snake = ["0_of_ledger", "1_of_parser", "2_of_router", "6_of_router", "10_of_router", "15_of_cache"];
const camel = ["0Ledger", "1Parser", "2Router", "6Router", "10Router", "15Cache"];
const pyErrors = [
  "ValueError",
  "KeyError",
  "AssertionError",
  "TypeError",
  "ZeroDivisionError",
  "LedgerFault",
];

interface Row {
  readonly runner: string | undefined;
  readonly failing?: readonly string[];
  readonly errors: readonly string[];
  readonly place?: string;
  readonly counts?: RegExp;
  /** What is not to be told. */
  readonly not?: RegExp;
}

/** Of each fixture what must be told of it. All but gradle, junit and clang were run. */
const rows: Readonly<Record<string, Row>> = {
  nodetest: {
    runner: "node:test",
    failing: js,
    errors: [...jsErrors, "AssertionError"],
    place: "suite0.test.cjs:3",
  },
  nodedot: {
    runner: "node:test",
    failing: ["takes discounts", "inner one", "deep"],
    errors: ["AssertionError [ERR_ASSERTION]: 1 == 2", "TypeError: no price"],
    place: "x.test.mjs:2",
    not: /subtest failed/,
  },
  nodetap: { runner: "node:test", failing: js, errors: jsErrors, place: "suite0.test.cjs:3" },
  "nodetest-words": {
    runner: "node:test",
    failing: ["inner # hash (12.5ms)", "async timeout", "string throw", "b.test.mjs"],
    errors: [...nodeWords, "MyThing: mine", "Cannot find package"],
    not: /todo one|12\.5ms\) \(/,
  },
  "nodetap-words": {
    runner: "node:test",
    failing: ["inner \\# hash (12.5ms)", "async timeout", "string throw", "b.test.mjs"],
    errors: [
      ...nodeWords,
      "MyThing",
      "ERR_MODULE_NOT_FOUND",
      "Expected values to be strictly deep-equal",
      "one",
      "two",
    ],
    not: /todo one|duration_ms|^'|subtests? failed/m,
  },
  vitest: {
    runner: "vitest",
    failing: js,
    errors: [...jsErrors, "AssertionError"],
    place: "suite0.test.ts:3",
  },
  jest: { runner: "jest", failing: js, errors: jsErrors, place: "suite0.test.js:3" },
  "jest-words": {
    runner: "jest",
    failing: ["outer › a [x] (5 ms) ünï › arrow", "hook › never", "toplevel", "jt/k.test.js"],
    errors: [
      "expect(received).toBe(expected)",
      "Expected: 2",
      "Received: 1",
      "beforeAll boom",
      'thrown: "a string"',
      "Cannot find module 'nope-nope' from 'k.test.js'",
      "SyntaxError",
    ],
    place: "j.test.js:1",
    not: /fake bullet|Test suite failed to run/,
  },
  mocha: {
    runner: "mocha",
    failing: js,
    errors: [...jsErrors, "AssertionError"],
    place: "test/suite0.cjs:3",
  },
  "mocha-dots": {
    runner: "mocha",
    failing: ["a [x] (5ms) 1) odd", "to", "deep", '"before all" hook for "never"'],
    errors: ["AssertionError [ERR_ASSERTION]: 1 == 2", "RangeError: deep bad", "Error: before boom"],
    place: "m.spec.cjs:2",
    not: /^(?:outer|hook)$/m,
  },
  pytest: { runner: "pytest", failing: snake.map((one) => `test_case_${one}`), errors: pyErrors },
  "pytest-quiet": {
    runner: "pytest",
    failing: pyNames,
    errors: ["KeyError: 'setup-key'", "CalledProcessError", "AssertionError: custom - message with dash"],
    counts: pyCounts,
    not: /^TestK\.|^test_param/m,
  },
  "pytest-native": {
    runner: "pytest",
    failing: pyNames,
    errors: ["KeyError: 'setup-key'", "CalledProcessError", "Failed: explicit fail reason", "SystemExit: 3"],
    counts: pyCounts,
    not: /^TestK\.|^test_param/m,
  },
  "pytest-short": {
    runner: "pytest",
    failing: pyNames,
    errors: ["KeyError: 'setup-key'", "CalledProcessError", "Failed: explicit fail reason", "SystemExit: 3"],
    counts: pyCounts,
  },
  "pytest-verbose": { runner: "pytest", failing: pyNames, errors: [], counts: pyCounts },
  unittest: {
    runner: "unittest",
    failing: snake.map((one) => `test_case_${one}`),
    errors: pyErrors,
    place: "test_unit0.py:5",
  },
  gotest: { runner: "go", failing: camel.map((one) => `TestCase${one}`), errors: ["got 0, want 1"] },
  "gotest-words": {
    runner: "go",
    failing: ["TestSub/with_space", "TestPlain", "TestFile", "FuzzX/seed#0", "Example_foo", "TestHang"],
    errors: [
      "sum(with space) = 3; nope",
      "the widget is broken",
      "open /nonexist: no such file or directory",
      "fuzz bad",
      "got: x",
      "want: y",
      "panic: test timed out after 2s",
    ],
    place: "a_test.go:4",
    not: /_testmain/,
  },
  "gotest-verbose": {
    runner: "go",
    failing: ["TestSub/with_space", "TestPlain", "TestFile", "FuzzX/seed#0", "Example_foo"],
    errors: ["sum(a/b) = 3; nope", "the widget is broken", "open /nonexist: no such file", "fuzz bad"],
    not: /only a word/,
  },
  "gotest-json": {
    runner: "go",
    failing: ["TestTotal/with_discount", "TestRoutes", "shop/broken"],
    errors: [
      'Total("with discount") = 90; want 100',
      "panic: assignment to entry in nil map",
      'cannot use "one" (untyped string constant) as int value',
    ],
    place: "router/router_test.go:11",
    not: /only a word|Action|Output/,
  },
  gopanic: {
    runner: "go",
    failing: ["TestBoom"],
    errors: ["panic: assignment to entry in nil map"],
    place: "p_test.go:6",
  },
  gobuild: { runner: "go", errors: ["mismatched types"], place: "b.go:4" },
  cargo: {
    runner: "cargo",
    failing: snake.map((one) => `case_${one}`),
    errors: ["assertion `left == right` failed", "ParseIntError"],
    place: "src/lib.rs:4",
  },
  "cargo-words": {
    runner: "cargo",
    failing: ["tests::boom", "tests::should", "src/lib.rs - f (line 1)"],
    errors: [
      "custom boom",
      "index out of bounds",
      'Error: "returned error"',
      "test did not panic as expected",
      "the error",
    ],
    place: "src/lib.rs:8",
    not: /panicked at/,
  },
  rustc: { runner: "rustc", errors: ["error[E0308]", "error[E0425]"], place: "bad.rs:2" },
  mvn: {
    runner: "maven",
    failing: camel.map((one) => `handlesCase${one}`),
    errors: ["IllegalState", "NullPointer", "NumberFormat", "AssertionFailedError"],
  },
  gradle: {
    runner: "gradle",
    failing: ["handlesCase0Ledger()", "handlesCase1Parser()"],
    errors: ["AssertionFailedError", "IllegalStateException: broken 1"],
  },
  junit: {
    runner: "junit",
    failing: ["handlesLedger(com.example.SuiteTest)", "handlesParser(com.example.SuiteTest)"],
    errors: ["AssertionError: expected", "NumberFormatException"],
  },
  tsc: { runner: "tsc", errors: ["TS2322", "TS2304"], place: "a.ts:1" },
  eslint: { runner: "eslint", errors: ["no-undef", "no-unused-vars", "no-var"] },
  "eslint-files": {
    runner: "eslint",
    errors: ["no-unused-vars", "no-undef", "eqeqeq"],
    place: "src/plain.js:2",
    counts: /12 problems/,
  },
  gcc: { runner: "gcc or clang", errors: ["incompatible types", "undeclared"], place: "a.c:1" },
  "gcc-links": {
    runner: "gcc or clang",
    errors: ["‘undeclared’ undeclared", "[-Wimplicit-function-declaration]"],
    not: /https/,
  },
  clang: {
    runner: "gcc or clang",
    errors: ["undeclared identifier", "-Wunused-variable", "undefined reference to", "linker command failed"],
    place: "src/ledger.cpp:12",
  },
  npm: { runner: "npm", errors: ["E404"] },
  "unittest-types": {
    runner: "unittest",
    failing: ["test_dj (", "test_plain (", "test_custom ("],
    errors: ["test_e.DoesNotExist: User matching", "Exception: plain", "Boom: kaboom"],
    place: "ut/test_e.py:5",
  },
  python: { runner: undefined, errors: ["__main__.NotThere: no row 7"], place: "load.py:5" },
  unknown: { runner: undefined, errors: ["permission denied"] },
};

function assertSaid(ones: readonly string[], said: string): void {
  for (const one of ones) assert.ok(said.includes(one), `${one} is not in\n${said}`);
}

describe("signals", () => {
  it("of a line that only looks like an event of go test are none, however long it is", () => {
    const line = `{"Time":"x"${',"output",'.repeat(150_000)}"Output":"--- FAIL: TestX (0.00s)"}`;
    assert.deepEqual(signalsOf(`${line}\n${line.slice(0, 3_000)}\n`, cwd).failing, []);
  });

  for (const [name, { runner, failing = [], errors, place, ...row }] of Object.entries(rows)) {
    it(`of ${name}: what failed, why and where`, () => {
      const found = signalsOf(output(name), cwd);
      assert.deepEqual(found.runners, runner === undefined ? [] : [runner]);
      const said = found.errors.map(({ text }) => text).join("\n");
      assertSaid(failing, found.failing.join("\n"));
      assertSaid(errors, said);
      if (place) assert.ok(found.places.includes(place), found.places.join());
      assert.doesNotMatch([...found.failing, said, ...found.places].join("\n"), row.not ?? /(?!)/);
      assert.match(found.counts.join("\n"), row.counts ?? /^/);
      for (const one of found.places) assert.doesNotMatch(one, /node_modules|node:|^\//);
    });

    it(`of ${name} in a large log stay, in a tenth of its length`, () => {
      const noise = Array.from(
        { length: 1500 },
        (_, at) => `  step ${at} wrote ${at * 7} rows in ${at % 9} ms`,
      );
      const lines = output(name).split("\n");
      const half = Math.floor(noise.length / 2);
      const whole = [...noise.slice(0, half), ...lines, ...noise.slice(half)].join("\n");
      const text = signalText(whole, signalsOf(whole, cwd), 2_400);
      assert.ok(text.length <= whole.length / 10, `${text.length} of ${whole.length}`);
      assertSaid([...failing, ...errors], text);
    });
  }

  for (const names of [
    ["vitest", "pytest"],
    ["jest", "gotest"],
    ["nodetest", "cargo"],
    ["tsc", "pytest"],
    ["npm", "mocha", "unittest"],
  ]) {
    it(`of ${names.join(" and ")} in one output are those of each`, () => {
      const found = signalsOf(names.map(output).join("\n"), cwd);
      const expected = names.flatMap((name) => rows[name] ?? []);
      assert.deepEqual(new Set(found.runners), new Set(expected.map(({ runner }) => runner)));
      const said = [...found.failing, ...found.errors.map(({ text }) => text)].join("\n");
      for (const { failing = [], errors } of expected) assertSaid([...failing, ...errors], said);
      for (const name of names) {
        for (const count of signalsOf(output(name), cwd).counts)
          assert.ok(found.counts.includes(count), count);
      }
    });
  }

  it("of errors without a type of their own are told by their words", () => {
    const { errors } = signalsOf(
      "✖ a (1ms)\n\n  at b\n\n\n  Error: one\nℹ tests 1\nCaused by: Error: two",
      cwd,
    );
    assert.deepEqual(
      errors.map(({ text }) => text),
      ["Error: one", "Error: two"],
    );
  });

  it("of what a linter says below a file's name have places in it, also where that has spaces", () => {
    assert.deepEqual(signalsOf(output("eslint-files"), cwd).places, [
      "src/file 1.js:1",
      "src/file 1.js:2",
      "src/file 2.js:1",
      "src/file 2.js:2",
      "src/plain.js:1",
      "src/plain.js:2",
    ]);
  });

  it("count what failed in the same way, and tell the first", () => {
    const { errors } = signalsOf(output("tsc"), cwd);
    assert.deepEqual(
      errors.map(({ text, times }) => [text.slice(0, 6), times]),
      [
        ["TS2322", 2],
        ["TS2304", 2],
      ],
    );
  });

  it("of nothing, of one long line and of bytes are no trouble", () => {
    for (const text of [
      "",
      "\n\n",
      "x".repeat(300_000),
      "\u0000\u0001\ufffd".repeat(500),
      "a(".repeat(5_000),
    ]) {
      assert.ok(signalText(text, signalsOf(text, cwd), 500).length <= 500);
    }
  });

  it("are found in linear time, whatever the lines are", () => {
    const evil = [
      "at ".repeat(600),
      "Error: ".repeat(250),
      "a.".repeat(900),
      " ".repeat(1_900),
      `${"a".repeat(900)}: `,
      `FAILED ${"[a] ".repeat(450)}`,
      "a::".repeat(600),
      `1 failed${", 1 passed".repeat(200)}`,
      "\u001b]8;".repeat(450),
    ];
    const started = performance.now();
    for (const line of evil) signalsOf(`${line}\n`.repeat(40), cwd);
    assert.ok(performance.now() - started < 5_000);
  });
});
