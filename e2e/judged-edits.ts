/** Runs test cases through `lathe edits apply`, as an evaluation of edit formats would. */
import assert from "node:assert/strict";
import type { EditAnswer, EditCase } from "@lathe/testkit/edit-corpus";
import { type Judged, verdictOf } from "@lathe/testkit/edit-corpus";
import { makePlace } from "./lathe.ts";

/** Returns the answers in the order of the cases. */
export async function judged(cases: readonly EditCase[]): Promise<readonly Judged[]> {
  const place = makePlace();
  try {
    const input = cases.map(({ request }) => `${JSON.stringify(request)}\n`).join("");
    const { code, out, err } = await place.run(["edits", "apply", "--stdin-jsonl"], { input });
    assert.deepEqual([code, err], [0, ""]);
    const answers = out
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line) as EditAnswer & { id: string });
    assert.equal(answers.length, cases.length);
    return cases.map((one, i) => {
      const answer = answers[i] ?? assert.fail();
      assert.equal(answer.id, one.request.id);
      return { case: one, answer, verdict: verdictOf(one, answer), ms: 0 };
    });
  } finally {
    place.remove();
  }
}

/** The figures that the design sets targets for. */
export interface Score {
  readonly mustRefuse: { readonly right: number; readonly of: number };
  readonly mustApply: { readonly right: number; readonly of: number };
  readonly wrong: number;
  readonly damaged: number;
}

export function scoreOf(all: readonly Judged[]): Score {
  const refuse = all.filter((one) => "refuse" in one.case.expect);
  const apply = all.filter(({ case: { expect } }) => !("refuse" in expect) && !expect.orRefuse);
  const count = (some: readonly Judged[], verdict: Judged["verdict"]): number =>
    some.filter((one) => one.verdict === verdict).length;
  return {
    mustRefuse: { right: count(refuse, "right"), of: refuse.length },
    mustApply: { right: count(apply, "right"), of: apply.length },
    wrong: count(all, "wrong-apply"),
    damaged: count(all, "damage"),
  };
}
