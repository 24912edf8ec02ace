/** A second opinion allows what would be asked, changes nothing else, and is in the log. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Decision, Opinion } from "@lathe/protocol";
import { answerTo, type Bench, openBench, run, say, types, until, worked } from "../bench.test.ts";

const asks: Decision = { verdict: "ask", rule: "undecided", why: "it cannot be told" };
const script = [{ calls: [say("x")] }, { text: "ok" }];
const opinion = (isHarmless: boolean) => async (): Promise<Opinion> => ({ model: "m", isHarmless, why: "w" });
const decided = (bench: Bench): readonly unknown[] =>
  bench.events.flatMap(({ type, data }) =>
    type === "permission.decided"
      ? [[data.decision.verdict, data.decision.rule, data.opinion?.isHarmless]]
      : [],
  );

describe("a second opinion", () => {
  it("lets happen what it finds harmless, and is logged with the decision", async () => {
    const bench = openBench({
      script,
      decide: () => asks,
      opinion: opinion(true),
      settings: { attended: true },
    });
    await run(bench);
    assert.deepEqual([decided(bench), worked(bench)], [[["allow", "second-opinion", true]], ["say x"]]);
  });

  it("leaves the question to a person where it does not", async () => {
    const bench = openBench({
      script,
      decide: () => asks,
      opinion: opinion(false),
      settings: { attended: true },
    });
    const running = run(bench);
    await until(() => types(bench).includes("question.asked"));
    await answerTo(bench, "c0.0", "deny");
    await running;
    assert.deepEqual(worked(bench), []);
  });

  it("ends a headless run as before where it does not, or where there is none", async () => {
    for (const one of [opinion(false), async () => undefined]) {
      const bench = openBench({ script, decide: () => asks, opinion: one });
      assert.equal((await run(bench)).lastEnd?.type, "permission");
      assert.deepEqual(worked(bench), []);
    }
  });

  it("is not asked for what is denied or allowed", async () => {
    for (const verdict of ["deny", "allow"] as const) {
      const never = async (): Promise<never> => assert.fail("nobody may be asked");
      const bench = openBench({ script, decide: () => ({ ...asks, verdict }), opinion: never });
      await run(bench);
      assert.deepEqual(worked(bench), verdict === "allow" ? ["say x"] : []);
    }
  });
});
