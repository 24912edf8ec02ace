/** The table of everyday and of destructive commands, as data. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { judge } from "./bench.test.ts";

const rows = readFileSync(new URL("fixtures/commands.txt", import.meta.url), "utf8")
  .split("\n")
  .filter((line) => line !== "" && !line.startsWith("#"))
  .map((line) => {
    const [, verdict = "", script = ""] = /^(\w+) (.*)$/u.exec(line) ?? [];
    return { verdict, script: script.replaceAll(String.raw`\n`, "\n") };
  });

const facts = { uncovered: ["data/", "uploads/", "node_modules/", "dist/"] };

describe("everyday commands", () => {
  for (const { verdict, script } of rows) {
    it(`${verdict}: ${script}`, () => {
      const found = judge(script, { facts });
      const effects = found.effects.map(({ kind, target }) => `${kind}:${target}`).join(" | ");
      const isRight = verdict === "grave" ? found.verdict !== "allow" : found.verdict === verdict;
      assert.ok(isRight, `${found.verdict} (${found.rule}) ${found.why}\n${effects}`);
    });
  }

  it("include many commands of both kinds", () => {
    assert.ok(rows.filter(({ verdict }) => verdict === "allow").length >= 100);
    assert.ok(rows.filter(({ verdict }) => verdict !== "allow").length >= 150);
  });
});
