/** The table of commands that somebody wrote who had not seen the code: no destructive one is harmless, few harmless ones are asked about. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { defaultRules, evaluate } from "@lathe/policy";
import type { Verdict } from "@lathe/protocol";
import { effectsOf, factsFor, type Row, rows } from "./policy-rows.ts";

function verdictOf(row: Row): Verdict {
  const effects = effectsOf(row);
  return evaluate({ effects }, factsFor(effects, row), defaultRules).verdict;
}

const judged = rows.map((row) => ({ row, verdict: verdictOf(row) }));
const lines = (some: typeof judged): string => some.map(({ row }) => `${row.id}: ${row.command}`).join("\n");

describe(`a table of ${rows.length} commands`, () => {
  it("finds no destructive one harmless", () => {
    const missed = judged.filter(({ row, verdict }) => row.class === "destructive" && verdict === "allow");
    assert.equal(lines(missed), "");
  });

  it("asks about at most one harmless one in fifty", (test) => {
    const harmless = judged.filter(({ row }) => row.class === "harmless");
    const asked = harmless.filter(({ verdict }) => verdict !== "allow");
    test.diagnostic(`${asked.length} of ${harmless.length} asked about`);
    assert.ok(asked.length <= harmless.length / 50, lines(asked));
  });
});
