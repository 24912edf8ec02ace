import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { emptySession, failure, type Session, type TokensFreed } from "@lathe/protocol";
import { dueCompaction } from "./due-compaction.ts";

const freed = (why: TokensFreed["why"], after: number, more: Partial<TokensFreed> = {}): TokensFreed => ({
  why,
  before: 100,
  after,
  ...more,
});
const turn: NonNullable<Session["turn"]> = {
  startedAt: 0,
  steps: 1,
  failures: 0,
  modelFailures: 0,
  waitedMs: 0,
  cut: 0,
};
const refusal = {
  modelFailures: 1,
  lastFailure: failure("context-overflow", "too long", { retry: "other-model" }),
};
const due = (more: Partial<NonNullable<Session["turn"]>>): string => {
  const action = dueCompaction({ ...emptySession, turn: { ...turn, ...more } }, 0);
  return action?.type === "compact" ? action.why : (action?.type ?? "nothing");
};

describe("a compaction", () => {
  it("is due after a rejection, whatever another kind freed before", () => {
    assert.equal(due(refusal), "overflow");
    for (const why of ["tidy", "images", "asked"] as const) {
      assert.equal(due({ ...refusal, freed: freed(why, 50) }), "overflow", why);
      assert.equal(due({ freed: freed(why, 50) }), "nothing", why);
    }
    const problem = { ...refusal.lastFailure, code: "overloaded" } as const;
    assert.equal(due({ ...refusal, lastFailure: problem }), "nothing");
  });

  it("is due after a second rejection only if there was no summary yet, and the first one helped", () => {
    assert.equal(due({ ...refusal, freed: freed("overflow", 50) }), "overflow");
    assert.equal(due({ ...refusal, freed: freed("overflow", 50, { summary: "written" }) }), "nothing");
    assert.equal(
      due({ ...refusal, freed: freed("overflow", 50, { summary: refusal.lastFailure }) }),
      "nothing",
    );
    assert.equal(due({ ...refusal, freed: freed("overflow", 70) }), "nothing");
  });

  it("that freed little ends the turn only if the rest is near the limit", () => {
    assert.equal(due({ freed: freed("window", 50) }), "nothing");
    assert.equal(due({ freed: freed("window", 70, { most: 99 }) }), "nothing");
    assert.equal(due({ freed: freed("window", 85, { most: 99 }) }), "end-turn");
    assert.equal(due({ freed: freed("window", 70) }), "end-turn", "the limit is not known");
  });
});
