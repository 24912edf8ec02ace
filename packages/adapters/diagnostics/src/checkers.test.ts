/** Parses real output of tsc 5.9, ESLint 10, Biome 2.5, Ruff, mypy, Pyright, Go 1.26 and cargo 1.95. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { isFailure, type Problem } from "@lathe/protocol";
import { assertGrowth } from "@lathe/testkit/growth";
import { fc } from "@lathe/testkit/properties";
import type { Ran } from "./checker.ts";
import { checkers } from "./checkers.ts";
import { placeProblem } from "./place-problem.ts";

function ran(name: string): Ran {
  return JSON.parse(readFileSync(new URL(`./fixtures/${name}.json`, import.meta.url), "utf8"));
}

function read(name: string, given: Ran): readonly string[] {
  const reading = checkers.find((one) => one.name === name)?.read(given);
  if (!reading || isFailure(reading)) assert.fail(reading?.text);
  return reading.problems.map((one) => shown(placeProblem(one, "/project", "")));
}

function shown({ path, line, column, severity, code, message }: Problem): string {
  return `${path}:${line}:${column} ${severity} ${code}: ${message}`;
}

const rows: Readonly<Record<string, readonly string[]>> = {
  tsc: [
    "a.ts:1:14 error TS2322: Type 'string' is not assignable to type 'number'.",
    "a.ts:4:14 error TS2322: Type 'number' is not assignable to type 'string'.",
  ],
  eslint: [
    "b.js:1:18 warning eqeqeq: Expected '===' and instead saw '=='.",
    "b.js:1:26 error no-undef: 'y' is not defined.",
  ],
  biome: [
    "a.ts:3:9 warning lint/correctness/noUnusedVariables: This variable un is unused.",
    "b.js:1:1 warning lint/style/useConst: This let declares a variable that is only assigned once.",
    "a.ts:5:3 error lint/suspicious/noDebugger: This is an unexpected use of the debugger statement.",
    "b.js:1:18 error lint/suspicious/noDoubleEquals: Using == may be unsafe if you are relying on type coercion.",
  ],
  ruff: [
    "a.py:1:1 error I001: Import block is un-sorted or un-formatted",
    "a.py:1:8 error F401: `os` imported but unused",
  ],
  mypy: [
    'a.py:3:12 error return-value: Incompatible return value type (got "int", expected "str")',
    'a.py:4:3 error arg-type: Argument 1 to "f" has incompatible type "str"; expected "int"',
  ],
  pyright: [
    'a.py:3:12 error reportReturnType: Type "int" is not assignable to return type "str" "int" is not assignable to "str"',
    'a.py:4:3 error reportArgumentType: Argument of type "Literal[\'a\']" cannot be assigned to parameter "x" of type "int" in function "f" "Literal[\'a\']" is not assignable to "int"',
  ],
  "go vet": [
    "sub/sub.go:4:9 error undefined: undefined: nope",
    'main.go:6:14 warning printf: fmt.Printf format %d has arg "x" of wrong type string',
  ],
  "cargo check": ["src/main.rs:1:26 error E0308: mismatched types: expected `i32`, found `&str`"],
};

describe("a checker's output", () => {
  for (const [name, wanted] of Object.entries(rows)) {
    it(`is parsed: ${name}`, () => {
      const given = ran(name.replace(" ", "-"));
      assert.deepEqual(read(name, given), wanted);
    });
  }

  for (const name of Object.keys(rows)) {
    it(`is a failure if the settings are unreadable, or nothing was checked: ${name}`, () => {
      const fixture = name === "tsc" ? "tsc-empty" : `${name.replace(" ", "-")}-broken`;
      const reading = checkers.find((one) => one.name === name)?.read(ran(fixture));
      assert.ok(isFailure(reading));
      assert.equal(reading.code, "tool-failed");
      assert.match(reading.text, /did not check/);
    });
  }

  it("means no problem if it ends well without output", () => {
    const quiet: Readonly<Record<string, string>> = {
      tsc: "/project/a.ts\n",
      eslint: "[]",
      biome: '{"diagnostics":[],"summary":{}}',
      ruff: "[]",
      mypy: "",
      pyright: '{"generalDiagnostics":[]}',
      "go vet": "{}\n",
      "cargo check": '{"reason":"build-finished","success":true}\n',
    };
    for (const { name } of checkers)
      assert.deepEqual(read(name, { output: quiet[name] ?? "", errors: "", code: 0 }), [], name);
  });

  it("of a crash never means no problems, whatever was printed", () => {
    const text = fc.oneof(fc.string(), fc.constant("[]"), fc.constant("{}"), fc.constant("null"), fc.json());
    fc.assert(
      fc.property(text, fc.string(), fc.integer({ min: 2, max: 255 }), (output, errors, code) => {
        for (const checker of checkers) {
          const reading = checker.read({ output, errors, code });
          assert.ok(isFailure(reading) || reading.problems.length > 0, checker.name);
        }
      }),
    );
  });

  it("is parsed in linear time, whatever it contains", () => {
    for (const start of ["a:1: error: ", "a(1,1): error TS1: ", "a.go:1: ", "a.go:1:1"]) {
      for (const checker of checkers) {
        const work = (times: number): void => {
          // A line separator that does not count here.
          const output = `${start.repeat(times)}\u2028`;
          checker.read({ output, errors: output, code: 1 });
        };
        assertGrowth(work, { sizes: [1_000, 16_000], atMost: 64, name: checker.name });
      }
    }
  });

  it("of cargo lists a library's problem once, although its tests repeat it, and the checked projects", () => {
    const span = { is_primary: true, file_name: "src/lib.rs", line_start: 1, column_start: 2 };
    const message = { level: "error", message: "no", spans: [span] };
    const told = [
      { reason: "compiler-artifact", manifest_path: "/project/member/Cargo.toml" },
      ...[1, 2].map(() => ({ reason: "compiler-message", manifest_path: "/project/Cargo.toml", message })),
      { reason: "build-finished", success: false },
    ];
    const output = told.map((one) => JSON.stringify(one)).join("\n");
    const reading = checkers
      .find(({ name }) => name === "cargo check")
      ?.read({ output, errors: "", code: 101 });
    if (!reading || isFailure(reading)) assert.fail(reading?.text);
    assert.deepEqual([reading.problems.length, reading.projects], [1, ["/project/member", "/project"]]);
    assert.match(reading.notes?.[0] ?? "", /there may be more/);
  });

  it("of go does not mention files for other platforms", () => {
    const doubt = checkers.find(({ name }) => name === "go vet")?.doubt;
    assert.ok(doubt);
    assert.match(doubt("a/w_windows.go", "package a\n") ?? "", /name/);
    assert.match(doubt("a/w_arm64_test.go", "package a\n") ?? "", /name/);
    assert.equal(
      doubt("a.go", "// A.\n\n//go:build ignore && !x\n\npackage a\n"),
      "it is built for ignore && !x alone",
    );
    for (const text of ["package a\n", "package a\n\nconst s = `\n//go:build x\n`\n", ""])
      assert.equal(doubt("a/window.go", text), undefined);
  });

  it("of Biome 1 is located by byte offsets", () => {
    const location = { path: { file: "a.ts" }, span: [7, 8], sourceCode: "ä;\n\nx();" };
    const diagnostics = [{ severity: "error", category: "lint/x", description: "no", location }];
    const output = JSON.stringify({ diagnostics, summary: { diagnosticsNotPrinted: 3 } });
    assert.deepEqual(read("biome", { output, errors: "", code: 1 }), ["a.ts:3:3 error lint/x: no"]);
  });

  it("of older versions of go is found among its errors", () => {
    const errors =
      '# x\n{\n\t"x": {\n\t\t"copylocks": [{"posn": "/project/a.go:1:2", "message": "m"}]\n\t}\n}\n';
    assert.deepEqual(read("go vet", { output: "", errors, code: 0 }), ["a.go:1:2 warning copylocks: m"]);
    const cut = { output: '{\n\t"x": {\n', errors: "", code: 0 };
    assert.ok(isFailure(checkers.find(({ name }) => name === "go vet")?.read(cut)));
  });

  it("controls no terminal, has one line, and stays short", () => {
    const message = `\u001b[31mred\u001b[0m\n  and\u0007 more ${"x".repeat(2_000)}`;
    const placed = placeProblem(
      { path: "/project/a\n.ts", line: 1, column: 1, severity: "error", message },
      "/project",
      "web",
    );
    assert.match(placed.message, /^red and more x+\.\.\.$/);
    assert.ok(placed.message.length < 520);
    assert.equal(placed.path, "a .ts");
    const outside = placeProblem({ ...placed, path: "/elsewhere/a.ts" }, "/project", "web");
    assert.equal(outside.path, "/elsewhere/a.ts");
    assert.equal(placeProblem({ ...placed, path: "./b.ts" }, "/project", "web").path, "web/b.ts");
  });
});
