/** Front matter as people and other agents write it. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fc } from "@lathe/testkit/properties";
import { listOf, readFrontMatter, textOf } from "./front-matter.ts";

function fieldsOf(head: string): unknown {
  const read = readFrontMatter(`---\n${head}\n---\nbody\n`);
  return typeof read === "string" ? read : { ...read.fields };
}

describe("front matter", () => {
  const rows: readonly (readonly [string, string, unknown])[] = [
    ["plain words", "name: a b", { name: "a b" }],
    ["an address", "url: http://a:1/b", { url: "http://a:1/b" }],
    ["quotes", `a: "x: \\"y\\""\nb: 'it''s'`, { a: 'x: "y"', b: "it's" }],
    ["a list in a line", "tools: [Read, 'Grep']", { tools: ["Read", "Grep"] }],
    ["a list of lines", "tools:\n  - Read\n  - Grep\nname: x", { tools: ["Read", "Grep"], name: "x" }],
    ["a list that is not indented", "tools:\n- Read\nname: x", { tools: ["Read"], name: "x" }],
    ["text over lines", "about: >\n  one\n  two\nname: x", { about: "one two", name: "x" }],
    ["text as it stands", "about: |\n  one\n  two", { about: "one\ntwo" }],
    ["nothing", "name:\nother: 1", { name: "", other: "1" }],
    ["comments", "# c\nname: x # why", { name: "x" }],
    ["no field", "just words", "this line is no `name: value`: just words"],
    ["a wrong indentation", "a: 1\n   b: 2", "this line is no `name: value`: b: 2"],
  ];
  for (const [name, head, expected] of rows) {
    it(`reads ${name}`, () => assert.deepEqual(fieldsOf(head), expected));
  }

  it("reads fields within fields", () => {
    const read = readFrontMatter("---\npermissions:\n  mode: ask\n  deny:\n    - write:x\n---\n");
    assert.deepEqual(JSON.parse(JSON.stringify(read)), {
      fields: { permissions: { mode: "ask", deny: ["write:x"] } },
      body: "",
    });
  });

  it("takes a file without a head for all body, and says where a head has no end", () => {
    assert.deepEqual(readFrontMatter("hello\n---\n"), { fields: {}, body: "hello\n---\n" });
    assert.equal(readFrontMatter("---\na: 1\n"), "its head has no end: a line of three hyphens");
    assert.equal(typeof readFrontMatter("---\n---\nx"), "object");
  });

  it("takes lists with commas, but not within brackets", () => {
    assert.deepEqual(listOf({ tools: "Read, Bash(git a, b), Grep" }, "tools"), [
      "Read",
      "Bash(git a, b)",
      "Grep",
    ]);
    assert.equal(listOf({}, "tools"), undefined);
    assert.equal(textOf({ name: " " }, "name"), undefined);
  });

  it("takes 64 kB of anything at once, and no head with a line as long as that", () => {
    const long = "a line of its head is longer than 2000 characters";
    for (const piece of [" ", "(", "()", "\t#", " #", ", ", "'", ": "]) {
      const text = piece.repeat(65_536 / piece.length);
      assert.equal(fieldsOf(`tools: x${text}x`), long);
      assert.equal(fieldsOf(`tools: [x${text}x]`), long);
      assert.ok(Array.isArray(listOf({ tools: text }, "tools")));
    }
    const lines = Array.from({ length: 32 }, () => `  ${"(".repeat(1900)}`).join("\n");
    const read = readFrontMatter(`---\ntools: >\n${lines}\n---\nbody`);
    assert.ok(typeof read !== "string");
    assert.deepEqual(listOf(read.fields, "tools"), []);
  });

  it("parts names as brackets say", () => {
    const before = (text: string): readonly string[] =>
      (text.match(/(?:[^,(]|\([^)]*\))+/gu) ?? []).map((part) => part.trim()).filter((part) => part !== "");
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom("a", " ", ",", "(", ")"), maxLength: 30 }), (text) => {
        assert.deepEqual(listOf({ tools: text }, "tools"), before(text));
      }),
    );
  });

  it("never throws, and keeps what is below the head", () => {
    fc.assert(
      fc.property(fc.string(), fc.string({ unit: "binary" }), (head, body) => {
        fc.pre(!head.includes("---") && !body.includes("\r"));
        const read = readFrontMatter(`---\n${head}\n---\n${body}`);
        assert.ok(typeof read === "string" || read.body === body);
      }),
    );
  });
});
