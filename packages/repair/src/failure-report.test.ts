/** What the reports of the common runners say, read from their real words. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type FailureReport, failureReport, framesWithin } from "./failure-report.ts";

const pytest = `F.FE                                                                     [100%]
==================================== ERRORS ====================================
__________________________ ERROR at setup of test_fix __________________________

    @pytest.fixture
    def broken():
>       return missing
E       NameError: name 'missing' is not defined

tests/test_calc.py:14: NameError
=================================== FAILURES ===================================
_______________________________ test_add[1-2-3] ________________________________

a = 1, b = 2, c = 3

    def test_add(a, b, c):
>       assert add(a, b) == c
E       assert -1 == 3
E        +  where -1 = add(1, 2)

tests/test_calc.py:6: AssertionError
______________________________ TestDiv.test_zero _______________________________

    def test_zero(self):
>       assert div(1, 0) == 0

tests/test_calc.py:10: 
_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ 

    def div(a, b):
>       return a / b
E       ZeroDivisionError: division by zero

calc.py:5: ZeroDivisionError
=========================== short test summary info ============================
FAILED tests/test_calc.py::test_add[1-2-3] - assert -1 == 3
FAILED tests/test_calc.py::TestDiv::test_zero - ZeroDivisionError: division by zero
ERROR tests/test_calc.py::test_fix - NameError: name 'missing' is not defined
2 failed, 1 passed, 1 error in 0.02s
`;

const unittest = `FE
======================================================================
ERROR: test_div (test_calc.CalcTest.test_div)
----------------------------------------------------------------------
Traceback (most recent call last):
  File "/work/app/test_calc.py", line 8, in test_div
    self.assertEqual(div(1, 0), 0)
                     ^^^^^^^^^
  File "/work/app/calc.py", line 5, in div
    return a / b
           ~~^~~
ZeroDivisionError: division by zero

======================================================================
FAIL: test_add (test_calc.CalcTest.test_add) (i=3)
----------------------------------------------------------------------
Traceback (most recent call last):
  File "/work/app/test_calc.py", line 6, in test_add
    self.assertEqual(add(1, 2), 3)
AssertionError: -1 != 3

----------------------------------------------------------------------
Ran 2 tests in 0.000s

FAILED (failures=1, errors=1)
`;

const spec = `▶ calc
  ✖ adds (0.870129ms)
  ✔ adds zero (0.101772ms)
✖ calc (1.616434ms)
✖ booms # twice (0.092328ms)
✖ failing tests:

test at calc.test.mjs:5:3
✖ adds (0.870129ms)
  AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:
  
  -1 !== 3
  
      at TestContext.<anonymous> (file:///work/app/calc.test.mjs:5:27)
      at Test.runInAsyncScope (node:async_hooks:227:14)
      at Test.run (node:internal/test_runner/test:1402:25) {
    generatedMessage: true,
    code: 'ERR_ASSERTION',
    actual: -1,
    expected: 3,
    operator: 'strictEqual',
    diff: 'simple'
  }

test at calc.test.mjs:8:1
✖ booms # twice (0.092328ms)
  TypeError: boom it is
      at boom (file:///work/app/calc.mjs:2:32)
`;

const tap = `TAP version 13
# Subtest: calc
    # Subtest: adds
    not ok 1 - adds
      ---
      duration_ms: 0.849268
      type: 'test'
      location: '/work/app/calc.test.mjs:5:3'
      failureType: 'testCodeFailure'
      error: |-
        Expected values to be strictly equal:
        
        -1 !== 3
        
      code: 'ERR_ASSERTION'
      name: 'AssertionError'
      expected: 3
      actual: -1
      operator: 'strictEqual'
      stack: |-
        TestContext.<anonymous> (file:///work/app/calc.test.mjs:5:27)
        Test.run (node:internal/test_runner/test:1402:25)
      ...
    # Subtest: adds zero
    ok 2 - adds zero
      ---
      duration_ms: 0.100741
      type: 'test'
      ...
    1..2
not ok 1 - calc
  ---
  type: 'suite'
  error: '1 subtest failed'
  ...
# Subtest: booms \\# twice
not ok 2 - booms \\# twice
  ---
  error: 'boom it is'
  stack: |-
    boom (file:///work/app/calc.mjs:2:32)
  ...
1..2
`;

const vitest = `
 RUN  v3.2.4 /work/app

 ❯ tests/math.test.ts (2 tests | 1 failed) 6ms
   × math > adds 4ms
     → expected -1 to be 3 // Object.is equality
   ✓ math > subtracts 1ms

⎯⎯⎯⎯⎯⎯⎯ Failed Tests 1 ⎯⎯⎯⎯⎯⎯⎯

 \u001b[41m FAIL \u001b[49m tests/math.test.ts > math > adds
AssertionError: expected -1 to be 3 // Object.is equality

- Expected
+ Received

- 3
+ -1

 ❯ tests/math.test.ts:6:23
      4| describe("math", () => {
      5|   it("adds", () => {
      6|     expect(add(1, 2)).toBe(3);
       |                       ^

⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯[1/1]⎯

`;

const jest = `FAIL tests/math.test.js
  ● Console

    console.log
      hello

      at log (src/math.js:2:11)

  ● math › adds

    expect(received).toBe(expected) // Object.is equality

    Expected: 3
    Received: -1

      4 | describe("math", () => {
      5 |   it("adds", () => {
    > 6 |     expect(add(1, 2)).toBe(3);
        |                       ^

      at Object.toBe (tests/math.test.js:6:23)

  ● math › lists

    expect(received).toEqual(expected) // deep equality
`;

const jestDeep = `  ● lists

    expect(received).toEqual(expected) // deep equality

    - Expected  - 1
    + Received  + 1

      Array [
    -   1,
    +   2,
      ]
`;

const mocha = `

  math
    1) adds
    ✔ subtracts

  1 passing (4ms)
  1 failing

  1) math
       adds:

      AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:

-1 !== 3

      + expected - actual

      --1
      +3
      
      at Context.<anonymous> (test/math.test.js:6:12)
      at process.processImmediate (node:internal/timers:483:21)
`;

type Row = readonly [runner: string, output: string, expected: FailureReport];

const rows: readonly Row[] = [
  [
    "pytest",
    pytest,
    {
      tests: [
        "tests/test_calc.py::test_add[1-2-3]",
        "tests/test_calc.py::TestDiv::test_zero",
        "tests/test_calc.py::test_fix",
      ],
      error: "NameError: name 'missing' is not defined",
      frames: [
        { path: "tests/test_calc.py", line: 14 },
        { path: "tests/test_calc.py", line: 6 },
        { path: "tests/test_calc.py", line: 10 },
        { path: "calc.py", line: 5 },
      ],
    },
  ],
  [
    "unittest",
    unittest,
    {
      tests: ["test_div (test_calc.CalcTest.test_div)", "test_add (test_calc.CalcTest.test_add)"],
      error: "ZeroDivisionError: division by zero",
      frames: [
        { path: "/work/app/test_calc.py", line: 8 },
        { path: "/work/app/calc.py", line: 5 },
        { path: "/work/app/test_calc.py", line: 6 },
      ],
    },
  ],
  [
    "node:test, spec",
    spec,
    {
      tests: ["adds", "calc", "booms # twice"],
      error: "AssertionError [ERR_ASSERTION]: Expected values to be strictly equal: -1 !== 3",
      expected: "3",
      actual: "-1",
      frames: [
        { path: "calc.test.mjs", line: 5 },
        { path: "/work/app/calc.test.mjs", line: 5 },
        { path: "calc.test.mjs", line: 8 },
        { path: "/work/app/calc.mjs", line: 2 },
      ],
    },
  ],
  [
    "node:test, TAP",
    tap,
    {
      tests: ["adds", "calc", "booms # twice"],
      error: "Expected values to be strictly equal: -1 !== 3",
      expected: "3",
      actual: "-1",
      frames: [
        { path: "/work/app/calc.test.mjs", line: 5 },
        { path: "/work/app/calc.test.mjs", line: 5 },
        { path: "/work/app/calc.mjs", line: 2 },
      ],
    },
  ],
  [
    "vitest",
    vitest,
    {
      tests: ["tests/math.test.ts > math > adds"],
      error: "AssertionError: expected -1 to be 3 // Object.is equality",
      expected: "3",
      actual: "-1",
      frames: [{ path: "tests/math.test.ts", line: 6 }],
    },
  ],
  [
    "jest",
    jest,
    {
      tests: ["math › adds", "math › lists"],
      error: "expect(received).toBe(expected) // Object.is equality",
      expected: "3",
      actual: "-1",
      frames: [
        { path: "src/math.js", line: 2 },
        { path: "tests/math.test.js", line: 6 },
      ],
    },
  ],
  [
    "jest, a difference",
    jestDeep,
    {
      tests: ["lists"],
      error: "expect(received).toEqual(expected) // deep equality",
      expected: "1,",
      actual: "2,",
      frames: [],
    },
  ],
  [
    "mocha",
    mocha,
    {
      tests: ["math adds"],
      error: "AssertionError [ERR_ASSERTION]: Expected values to be strictly equal: -1 !== 3",
      expected: "3",
      actual: "-1",
      frames: [{ path: "test/math.test.js", line: 6 }],
    },
  ],
  ["a clean run", "....\n4 passed in 0.01s\n", { tests: [], frames: [] }],
  ["nothing", "", { tests: [], frames: [] }],
];

describe("failureReport", () => {
  for (const [runner, output, expected] of rows)
    it(`reads ${runner}`, () => assert.deepEqual(failureReport(output), expected));

  it("takes the first error of pytest, an assertion or not, and one with a module's name", () => {
    const first = "E       assert 1 == 2\n\na.py:1: AssertionError\nE       ValueError: late\n";
    assert.equal(failureReport(first).error, "assert 1 == 2");
    assert.equal(
      failureReport("E   shop.errors.MissingError: no x\n").error,
      "shop.errors.MissingError: no x",
    );
  });

  it("names at most 50 tests, each once, and cuts long errors", () => {
    const many = Array.from({ length: 80 }, (_, n) => `FAILED a.py::t${n}\nFAILED a.py::t${n}\n`).join("");
    assert.equal(failureReport(many).tests.length, 50);
    assert.equal(failureReport(`ValueError: ${"x".repeat(1000)}\n`).error?.length, 300);
  });
});

describe("framesWithin", () => {
  it("keeps the workspace's files, by their paths in it", () => {
    const frames = [
      { path: "/work/app/src/a.py", line: 1 },
      { path: "./src/a.py", line: 2 },
      { path: "src/a.py", line: 3 },
      { path: "/work/application/src/a.py", line: 4 },
      { path: "/usr/lib/python3/unittest.py", line: 5 },
      { path: "src/b.py", line: 6 },
    ];
    assert.deepEqual(framesWithin(frames, "/work/app", new Set(["src/a.py"])), [
      { path: "src/a.py", line: 1 },
      { path: "src/a.py", line: 2 },
      { path: "src/a.py", line: 3 },
    ]);
  });
});
