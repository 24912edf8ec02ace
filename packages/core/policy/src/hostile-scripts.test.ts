/** Hostile scripts, deeply nested or with loops within loops: each gets a verdict quickly. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { assertGrowth } from "@lathe/testkit/growth";
import { commandEffects, followed } from "./bench.test.ts";

const isUndecided = (script: string): boolean =>
  followed(script).some(({ undecided }) => undecided !== undefined);

describe("a script nested without end", () => {
  const times = 1_500;
  const nested: Readonly<Record<string, string>> = {
    substitutions: `echo ${"$(".repeat(times)}x${")".repeat(times)}`,
    subshells: `${"(".repeat(times)}x${")".repeat(times)}`,
    groups: `${"{ ".repeat(times)}x;${" }".repeat(times)}`,
    expansions: `echo ${"${a:-".repeat(times)}${"}".repeat(times)}`,
    arithmetic: `echo $((${"(".repeat(times)}1${")".repeat(times)}))`,
    "process substitutions": `cat ${"<(".repeat(times)}x${")".repeat(times)}`,
    conditions: `${"if true; then ".repeat(times)}x; ${"fi; ".repeat(times)}`,
    "chained commands": Array(times).fill("x").join(" && "),
    functions: `${"f() { ".repeat(times)}x; ${"}; ".repeat(times)}`,
    braces: `echo ${"{a,".repeat(times)}${"}".repeat(times)}`,
  };
  for (const [kind, script] of Object.entries(nested)) {
    it(`is read as far as people nest scripts: ${kind}`, () => {
      assert.ok(commandEffects(script, "").length > 0);
      if (!kind.startsWith("braces")) assert.ok(isUndecided(script));
    });
  }

  it("does not hide the commands next to it", () => {
    const found = followed(`git push --force; echo ${"$(".repeat(times)}x${")".repeat(times)}; rm -rf a`);
    const words = found.map((call) => call.words.map(({ text }) => text).join(" "));
    for (const one of ["git push --force", "rm -rf a"]) assert.ok(words.includes(one), one);
  });

  it("is read completely at a depth that people use", () => {
    const script = `echo ${"$(echo ".repeat(8)}x${")".repeat(8)}; ${Array(60).fill("true").join(" && ")}`;
    assert.equal(isUndecided(script), false);
  });
});

describe("a script of very many parts", () => {
  const many: Readonly<Record<string, string>> = {
    substitutions: "echo $(x) ".repeat(8_000),
    "substitutions in a string": `echo "${"$(x)".repeat(11_000)}"`,
    commands: "x;".repeat(21_000),
    words: `x ${"y ".repeat(41_000)}`,
  };
  for (const [kind, script] of Object.entries(many)) {
    it(`is undecided: ${kind}`, () => assert.ok(isUndecided(script)));
  }
});

describe("a script of loops within loops", () => {
  const within = (head: string, times: number): string =>
    `${head.repeat(times)}a=b; rm c; ${"done; ".repeat(times)}`;
  const heads = [`for i in ${"a ".repeat(60)}; do `, "while x; do a=$a; "];

  it("is followed for a limited number of steps, however many it would make", () => {
    for (const head of heads) {
      const found = followed(within(head, 30));
      assert.ok(found.length < 10_000);
      assert.ok(
        found.some(({ raw, undecided }) => raw.includes("rm c") && undecided !== undefined),
        head,
      );
      assertGrowth((times) => followed(within(head, times)), { sizes: [8, 32], atMost: 64, name: head });
    }
  });

  it("is limited also if functions call others twice", () => {
    const functions = Array.from({ length: 40 }, (_, at) => `f${at}() { f${at + 1}; f${at + 1}; }; `);
    assert.equal(isUndecided(`${functions.join("")}f0`), true);
  });
});

it("very many words are read in linear time", () => {
  const work = (words: number): unknown => followed(`echo ${"a ".repeat(words)}`);
  assertGrowth(work, { sizes: [1_000, 16_000], atMost: 64 });
});
