import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type AnswerRecord, emptySession, type Session } from "@lathe/protocol";
import { fc } from "@lathe/testkit/properties";
import { findCycle, judgeLoop } from "./loop-guard.ts";

const answer = (input: string, result: string): AnswerRecord => ({
  calls: [{ tool: "shell", input, result }],
});
const judge = (recent: readonly AnswerRecord[]) => {
  const turn = { startedAt: 0, steps: recent.length, failures: 0, modelFailures: 0, waitedMs: 0, cut: 0 };
  const session: Session = { ...emptySession, turn, recent };
  return judgeLoop(session)?.type;
};

describe("findCycle", () => {
  it("finds any cycle of one to four answers, repeated at the end of anything", () => {
    const cycles = fc.uniqueArray(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(cycles, fc.integer({ min: 3, max: 6 }), (cycle, repeats) => {
        const tail = Array.from({ length: repeats }, () => cycle).flat();
        assert.deepEqual(findCycle(["before", "", ...tail]), { length: cycle.length, repeats });
      }),
    );
  });

  it("finds none if nothing repeats three times", () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string()), (steps) =>
        assert.equal(findCycle([...steps, ...steps]), undefined),
      ),
    );
  });
});

describe("judgeLoop", () => {
  const repeat = (make: (i: number) => AnswerRecord, count: number) =>
    Array.from({ length: count }, (_, i) => make(i));

  it("ignores times, durations, pids and IDs", () => {
    const same = repeat(
      (i) =>
        answer(
          '{"command":"test"}',
          `pid ${100 + i} failed at 2026-11-20T10:0${i}:00Z in 0.${i}1 s, run a3f9c${i}d7`,
        ),
      5,
    );
    assert.equal(judge(same), "end-turn");
  });

  it("ignores the order of arguments", () => {
    const same = repeat((i) => answer(i % 2 ? '{"a":1,"b":2}' : '{"b":2,"a":1}', "x"), 3);
    assert.equal(judge(same), "post-notice");
  });

  it("distinguishes numbers that have a meaning", () => {
    assert.equal(judge(repeat((i) => answer("{}", `${12 + i} tests failed`), 6)), undefined);
  });
});
