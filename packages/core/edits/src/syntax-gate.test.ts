/** Tests the syntax gate for a text that the parser gives up. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Syntax, SyntaxNode } from "@lathe/protocol";
import { gateSyntax } from "./syntax-gate.ts";

const node: SyntaxNode = {
  type: "ERROR",
  named: true,
  text: "x",
  start: 0,
  end: 1,
  line: 1,
  broken: true,
  parent: null,
  children: [],
  field: () => null,
};
const costly: Syntax = {
  languageOf: () => "bash",
  parse: async () => ({ root: node, errors: [node], isUnparsed: true, close: () => undefined }),
};

for (const tier of ["exact", "inner-whitespace"] as const) {
  test(`an edit of the tier ${tier} that costs too much to parse is applied, with a warning`, async () => {
    const applied = { text: "b\n", tier, warnings: [], ranges: [] };
    const gated = await gateSyntax(costly, { path: "a.sh", before: "a\n", applied });
    assert.deepEqual(gated, {
      ...applied,
      warnings: ["Syntax not checked: the changed part takes too long to parse."],
    });
  });
}
