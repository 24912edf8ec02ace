import assert from "node:assert/strict";
import { test } from "node:test";
import { createDefinitionsOf } from "./definitions.ts";

const definitionsOf = createDefinitionsOf();

const samples: readonly (readonly [path: string, text: string, expected: readonly string[]])[] = [
  [
    "a.js",
    "export const pour = (a,\n  b) => {\n  return b;\n};\nclass Pot {\n  get lid () { return 1 }\n  boil() {}\n}\nit('pours', () => {\n});\nmodule.exports.empty = function () {\n};\n",
    [
      "function pour 1-4",
      "class Pot 5-8",
      "method Pot.lid 6-6",
      "method Pot.boil 7-7",
      "function empty 11-12",
    ],
  ],
  [
    "a.ts",
    "export interface Pot {\n  boil(): void;\n}\ntype Tea = {\n  a: 1;\n};\nenum Cup { A }\nabstract class B {\n  abstract x(): void;\n}\n",
    [
      "interface Pot 1-3",
      "method Pot.boil 2-2",
      "type Tea 4-6",
      "enum Cup 7-7",
      "class B 8-10",
      "method B.x 9-9",
    ],
  ],
  [
    "a.py",
    "@lid\ndef pour(\n    a,\n) -> int:\n    return a\n\n\nclass Pot:\n    def boil(self):\n        pass\n",
    ["function pour 1-5", "class Pot 8-10", "method Pot.boil 9-10"],
  ],
  [
    "a.go",
    "package a\n\ntype (\n\tPot struct {\n\t\tn int\n\t}\n)\n\nfunc (p *Pot) Boil() {\n}\n\nfunc Pour[T any]() {}\n",
    ["struct Pot 4-6", "method Pot.Boil 9-10", "function Pour 12-12"],
  ],
  [
    "a.rs",
    "pub struct Pot<T> {\n}\nimpl<T> Pot<T> {\n    fn boil() {\n    }\n}\nmacro_rules! pour { () => {} }\n",
    ["struct Pot 1-2", "method Pot.boil 4-5", "macro pour 7-7"],
  ],
  [
    "A.java",
    "class Pot {\n  Pot(int n) {\n  }\n  @Override\n  public int boil() {\n    return 1;\n  }\n}\n",
    ["class Pot 1-8", "constructor Pot.Pot 2-3", "method Pot.boil 4-7"],
  ],
  [
    "a.cpp",
    "struct pot;\nstruct pot {\n  int n;\n};\nstatic char *pour(struct pot *p)\n{\n}\nint Pot::boil() {\n}\n#define LID(x) \\\n  x\n",
    ["struct pot 2-4", "function pour 5-7", "function boil 8-9", "macro LID 10-11"],
  ],
  ["a.rb", "class Pot\n  def boil\n  end\nend\n", ["class Pot 1-4", "method Pot.boil 2-3"]],
  ["a.php", "<?php\nclass Pot {\n  function boil() {\n  }\n}\n", ["class Pot 2-5", "method Pot.boil 3-4"]],
  ["a.cs", "class Pot {\n  int Boil() {\n  }\n}\n", ["class Pot 1-4", "method Pot.Boil 2-3"]],
];

for (const [path, text, expected] of samples) {
  test(`finds the definitions in ${path}`, async () => {
    const found = await definitionsOf(path, text);
    const shown = found?.map(({ kind, container, name, startLine, endLine }) => {
      return `${kind} ${container === undefined ? "" : `${container}.`}${name} ${startLine}-${endLine}`;
    });
    assert.deepEqual(shown, expected);
  });
}

test("returns nothing for texts without a grammar or too long or costly, and tolerates broken ones", async () => {
  assert.equal(await definitionsOf("a.zig", "fn a() {}"), undefined);
  assert.equal(await definitionsOf("a.js", `${"x;".repeat(150_000)}`), undefined);
  assert.equal(await definitionsOf("a.sh", `f() { :; }\ncat <<E\n${"$x ".repeat(30_000)}\nE\n`), undefined);
  const broken = await definitionsOf("a.js", "function pour() {\n}\n}}}} class {\n");
  assert.equal(broken?.[0]?.name, "pour");
  assert.deepEqual(await definitionsOf("a.js", ""), []);
});
