/** The loop guard in whole turns. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { failure } from "@lathe/protocol";
import { benches, run, types } from "../bench.test.ts";

for (const { name, openBench } of benches) {
  describe(`the loop guard, ${name}`, () => {
    it("tells the model once about a cycle of any length, then ends the turn", async () => {
      for (const length of [1, 2, 3, 4]) {
        const script = (_: unknown, i: number) => ({
          calls: [{ tool: "fails", input: { step: i % length } }],
        });
        const bench = openBench({ tools: [failing], script });
        assert.equal((await run(bench)).lastEnd?.type, "loop");
        assert.equal(types(bench).filter((type) => type === "notice.posted").length, 1, `cycle of ${length}`);
        assert.equal(bench.scripted.requests.length, 5 * length);
      }
    });

    it("detects a server that is started again and again, even if it has output", async () => {
      const facts = { process: { id: "p1", running: true, produced: true } };
      const start = {
        name: "start",
        effects: () => [{ kind: "execute", target: "npm run dev" }] as const,
        run: () => ({ type: "ok", text: "listening", facts }) as const,
      };
      const script = () => ({ calls: [{ tool: "start", input: {} }] });
      assert.equal((await run(openBench({ tools: [start], script }))).lastEnd?.type, "loop");
    });

    const failing = {
      name: "fails",
      run: () => ({ type: "failed", failure: failure("not-found", "no such file") }) as const,
    };

    it("sends a note at the third repeat and ends the turn at the fifth", async () => {
      const bench = openBench({
        tools: [failing],
        script: () => ({ calls: [{ tool: "fails", input: { a: 1, b: 2 } }] }),
      });
      const session = await run(bench);
      assert.equal(session.lastEnd?.type, "loop");
      assert.equal(bench.scripted.requests.length, 5);
      assert.equal(types(bench).filter((type) => type === "notice.posted").length, 1);
      assert.match(JSON.stringify(bench.scripted.requests[3]?.messages.at(-1)), /3 times/);
    });

    it("does not mistake eight identical calls in one answer for a loop", async () => {
      const calls = Array.from({ length: 8 }, () => ({ tool: "fails", input: {} }));
      const session = await run(openBench({ tools: [failing], script: [{ calls }, { text: "ok" }] }));
      assert.deepEqual(session.lastEnd, { type: "done" });
    });

    it("allows polling of a process with output", async () => {
      const facts = { process: { id: "p1", running: true, produced: true } };
      const poll = { name: "poll", run: () => ({ type: "ok", text: "tick", facts }) as const };
      const script = (_: unknown, i: number) =>
        i < 12 ? { calls: [{ tool: "poll", input: {} }] } : { text: "ok" };
      assert.deepEqual((await run(openBench({ tools: [poll], script }))).lastEnd, { type: "done" });
    });

    it("starts counting again if a file changed", async () => {
      const script = (_: unknown, i: number) =>
        i >= 12
          ? { text: "ok" }
          : {
              calls: [
                i % 3 === 2
                  ? { tool: "put", input: { path: "f", text: `${i}` } }
                  : { tool: "fails", input: {} },
              ],
            };
      assert.deepEqual((await run(openBench({ tools: [failing], script }))).lastEnd, { type: "done" });
    });
  });
}
