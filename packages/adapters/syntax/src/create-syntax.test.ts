/** Tests the Syntax port's contract on real grammars. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { type Language, languages } from "@lathe/protocol";
import { createSyntax } from "./create-syntax.ts";

const syntax = createSyntax();

test("languageOf knows the extensions and nothing else", () => {
  assert.equal(syntax.languageOf("a/b.py"), "python");
  assert.equal(syntax.languageOf("x.mts"), "typescript");
  assert.equal(syntax.languageOf("x.tsx"), "tsx");
  assert.equal(syntax.languageOf("x.d.ts"), "typescript");
  assert.equal(syntax.languageOf("x.H"), "cpp");
  assert.equal(syntax.languageOf("x.zig"), undefined);
  assert.equal(syntax.languageOf("constructor"), undefined);
  assert.equal(syntax.languageOf("x.constructor"), undefined);
});

const SAMPLES: readonly (readonly [Language, string, string])[] = [
  ["javascript", "const a = (b) => b + 1;", "arrow_function"],
  ["typescript", "function f(a: number): number { return a; }", "type_annotation"],
  ["tsx", "const a = <b>{c as string}</b>;", "jsx_element"],
  ["python", "def f(a):\n    return a\n", "function_definition"],
  ["go", "package a\n\nfunc f() int { return 1 }\n", "function_declaration"],
  ["rust", "fn f() -> u8 { 1 }", "function_item"],
  ["java", "class A { int f() { return 1; } }", "method_declaration"],
  ["c-sharp", "class A { int F() { return 1; } }", "method_declaration"],
  ["cpp", "int f(char *a) { return a->b; }", "function_definition"],
  ["ruby", "def f\n  1\nend\n", "method"],
  ["php", "<?php function f() { return 1; }", "function_definition"],
  ["bash", "f() { echo 1; }", "function_definition"],
  ["css", "a { color: red; }", "rule_set"],
];

test("every language has a sample", () => {
  assert.deepEqual(
    SAMPLES.map(([language]) => language),
    languages,
  );
});

for (const [language, source, type] of SAMPLES) {
  test(`${language} parses, and its nodes cover the text`, async () => {
    const tree = await syntax.parse(language, source);
    assert.deepEqual(tree.errors, []);
    assert.equal(tree.root.text, source);
    const pending = [tree.root];
    let seen = false;
    for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
      if (node.type === type) seen = true;
      for (const child of node.children) assert.equal(child.parent, node);
      pending.push(...node.children);
    }
    assert.ok(seen, type);
    tree.close();
  });
}

test("fields are the children themselves", async () => {
  const tree = await syntax.parse("python", "if a:\n    b()\n");
  const statement = tree.root.children[0];
  assert.ok(statement);
  const condition = statement.field("condition");
  assert.equal(condition?.text, "a");
  assert.ok(statement.children.includes(condition));
  assert.equal(statement.field("nonsense"), null);
  tree.close();
});

test("broken text gives errors in source order, with lines", async () => {
  const tree = await syntax.parse("javascript", "let a = 1;\nlet = = 2;\nfoo(;\n");
  assert.ok(tree.errors.length >= 2);
  assert.equal(tree.errors[0]?.line, 2);
  const starts = tree.errors.map((node) => node.start);
  assert.deepEqual(
    starts,
    starts.toSorted((a, b) => a - b),
  );
  tree.close();
});

const INDENTATION: readonly (readonly [string, string, readonly number[]])[] = [
  ["a body at the margin", "if a:\nreturn\n", [1]],
  ["a body of nothing but a comment", "def f():\n    # later\nx = 1\n", [1]],
  ["an else without a body", "if a: pass\nelse:\nb()\n", [2]],
  ["a try without anything that catches", "try:\n    a()\nb()\n", [1]],
  ["a statement deeper than the one before", "def f():\n    a()\n        b()\n    c()\n", [3]],
  ["a statement between two depths", "def f():\n    if a:\n        b()\n      c()\n    d()\n", [4]],
  ["a tab among spaces", "def f():\n    a()\n\tb()\n", [3]],
  [
    "one line, semicolons, a doc string and odd comments",
    "if a: b(); c()\ndef f():\n    'd'\n  # e\n    g(\n1)\n",
    [],
  ],
];

for (const [what, source, lines] of INDENTATION) {
  test(`Python: ${what} is ${lines.length === 0 ? "taken" : "broken, as for its compiler"}`, async () => {
    const tree = await syntax.parse("python", source);
    assert.deepEqual(
      tree.errors.map((node) => node.line),
      lines,
    );
    tree.close();
  });
}

test("offsets count UTF-16 code units", async () => {
  const source = 'const a = "🦊é"; const b = 2;';
  const tree = await syntax.parse("javascript", source);
  const second = tree.root.children[1];
  assert.equal(second?.start, source.indexOf("const b"));
  assert.equal(second?.text, "const b = 2;");
  tree.close();
});

/** The grammar reads to the end of the line for each one. */
const costly = `cat <<E\n${"$x ".repeat(30_000)}\nE\n`;

test("a text with quadratic cost becomes one error, and timers run meanwhile", async () => {
  let pauses = 0;
  const counting = setInterval(() => {
    pauses += 1;
  }, 1);
  const tree = await syntax.parse("bash", costly);
  clearInterval(counting);
  assert.equal(tree.isUnparsed, true);
  assert.deepEqual(
    tree.errors.map(({ start, end }) => [start, end]),
    [[0, costly.length]],
  );
  assert.ok(pauses > 0);
  tree.close();
});

test("texts parsed at the same time do not interfere", async () => {
  const short = "echo $x\n".repeat(20_000);
  const trees = await Promise.all([short, costly, short, "echo"].map((text) => syntax.parse("bash", text)));
  assert.deepEqual(
    trees.map((tree) => [tree.isUnparsed ?? false, tree.root.children.length]),
    [
      [false, 20_000],
      [true, 0],
      [false, 20_000],
      [false, 1],
    ],
  );
  for (const tree of trees) tree.close();
});
