/** Ranges widened to definitions, in the languages with a bundled grammar. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { createSyntax } from "@lathe/syntax";
import { widenRanges } from "./widen-ranges.ts";

const syntax = createSyntax();
const lines = (...all: readonly string[]): string => `${all.join("\n")}\n`;

const typescript = lines(
  "import x from 'x';",
  "",
  "export class A {",
  "  b(): void {",
  "    x();",
  "  }",
  "",
  "  c = 1;",
  "}",
  "",
  "export const d = async () => {",
  "  await x();",
  "};",
  "",
  "const e = 1;",
);

const rows: readonly (readonly [string, string, readonly number[], readonly number[]])[] = [
  ["a.ts", typescript, [5, 5], [4, 6]],
  ["a.ts", typescript, [5, 8], [3, 9]],
  ["a.ts", typescript, [12], [12]],
  ["a.ts", typescript, [12, 12], [11, 13]],
  ["a.ts", typescript, [15, 15], [15, 15]],
  ["a.ts", typescript, [1, 15], [1, 15]],
  ["a.go", lines("package a", "", "func F() int {", "\treturn 1", "}"), [4, 4], [3, 5]],
  ["a.rs", lines("impl A {", "    fn f() {", "        g();", "    }", "}"), [3, 3], [2, 4]],
  ["A.java", lines("class A {", "  int f() {", "    return 1;", "  }", "}"), [3, 3], [2, 4]],
  ["a.rb", lines("class A", "  def f", "    1", "  end", "end"), [3, 3], [2, 4]],
  ["a.txt", lines("a", "b"), [1, 1], [1, 1]],
  ["a.py", lines("def f():", ...Array.from({ length: 400 }, () => "    g()")), [9, 9], [9, 9]],
];

it("widens a range to the smallest definition that holds all of it, unless that is long", async () => {
  for (const [path, text, asked, wanted] of rows) {
    assert.deepEqual(await widenRanges({ path, text }, [asked], syntax), [wanted], `${path} ${asked}`);
  }
});

it("leaves ranges outside the text as they are, and text that does not parse readable", async () => {
  assert.deepEqual(await widenRanges({ path: "a.ts", text: "" }, [[1, 1]], syntax), [[1, 1]]);
  assert.deepEqual(await widenRanges({ path: "a.ts", text: "f(\n" }, [[7, 9]], syntax), [[7, 9]]);
});
