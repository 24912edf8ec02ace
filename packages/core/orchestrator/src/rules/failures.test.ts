/** Tests failed attempts: voided, retried, handed over, given up. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Failure, failure } from "@lathe/protocol";
import { createHandMovedClock } from "@lathe/testkit";
import { begin, openBench, roles, run, say } from "../bench.test.ts";
import { retryDelay } from "./after-failure.ts";

describe("failing attempts", () => {
  const broken = failure("stream-broken", "the stream broke", { retry: "same" });

  it("voids the shown text, tries again, and never executes a discarded call", async () => {
    const bench = openBench({
      script: [{ text: "half", calls: [say("x")], failure: broken }, { calls: [say("x")] }, { text: "ok" }],
    });
    const session = await run(bench);
    assert.deepEqual(session.lastEnd, { type: "done" });
    assert.deepEqual(bench.done, ["say x"]);
    assert.deepEqual(
      bench.deltas.slice(0, 2).map((delta) => delta.type),
      ["text", "void"],
    );
    assert.equal(roles(session), "user assistant tool assistant");
  });

  it("waits as long as the provider asks, plus a random time", async () => {
    const limited = failure("rate-limited", "slow down", { retry: { afterMs: 7000 } });
    const bench = openBench({ script: [{ failure: limited }, { text: "ok" }] });
    const begun = bench.clock.now();
    await run(bench);
    assert.equal(bench.clock.now() - begun, 7350);
  });

  it("hands over to the next model of the chain, and tells it", async () => {
    const settings = { models: ["first", "second"] };
    const bench = openBench({
      settings,
      script: (_request, i) => (i < 3 ? { failure: broken } : { text: "ok" }),
    });
    const session = await run(bench);
    assert.equal(session.model, "second");
    assert.match(JSON.stringify(bench.scripted.requests.at(-1)?.messages), /you take over/);
    assert.deepEqual(session.lastEnd, { type: "done" });
  });

  for (const [name, retry, ms] of [
    ["a provider that asks to wait an hour", { afterMs: 3_600_000 }, 0],
    ["stalls that take the whole time for retries", "same", 300_001],
  ] as const) {
    it(`hands over after ${name}`, async () => {
      const clock = createHandMovedClock({ leap: true });
      const script = async (_: unknown, i: number) => {
        if (i === 2 || (i === 1 && ms === 0)) return { text: "ok" };
        await clock.sleep(ms);
        return { failure: failure("rate-limited", "later", { retry }) };
      };
      const begun = clock.now();
      const session = await run(openBench({ clock, settings: { models: ["first", "second"] }, script }));
      assert.deepEqual([session.model, session.lastEnd], ["second", { type: "done" }]);
      assert.ok(clock.now() - begun < 700_000, "it did not wait for the hour");
    });
  }

  it("never retries sooner than its own back-off", () => {
    const problem = failure("rate-limited", "12 ms", { retry: { afterMs: 12 } });
    assert.deepEqual(
      [0, 1, 2].map((failures) => retryDelay(problem, { failures }, 1)),
      [500, 1000, 2000],
    );
  });

  it("ends after as many failures as allowed", async () => {
    const bench = openBench({ script: () => ({ failure: broken }), limits: { failures: 2 } });
    assert.equal((await run(bench)).lastEnd?.type, "failed");
    assert.equal(bench.scripted.requests.length, 2);
  });

  it("gives up soon on an address that never answered, and not on one that has", async () => {
    const gone = failure("unreachable", "connection refused", { retry: "same" });
    const wrong = openBench({ script: () => ({ failure: gone }) });
    await run(wrong);
    assert.equal(wrong.scripted.requests.length, 3);
    const lost = openBench({ script: (_, i) => (i === 0 ? { calls: [say("x")] } : { failure: gone }) });
    await run(lost);
    assert.ok(lost.scripted.requests.length > 14);
    const stumbling = openBench({ script: (_, i) => ({ failure: i === 0 ? broken : gone }) });
    await run(stumbling);
    assert.ok(stumbling.scripted.requests.length > 14, "what broke off had answered");
  });

  it("charges nothing for a request that a server failed on", async () => {
    const down = failure("server-error", "500", { retry: "same" });
    const session = await run(openBench({ script: (_, i) => (i < 2 ? { failure: down } : { text: "ok" }) }));
    assert.ok(session.account.tokens < 8000, `${session.account.tokens}`);
  });

  it("gives up at once if a retry cannot help", async () => {
    const bench = openBench({ script: () => ({ failure: failure("unauthorized", "wrong key") }) });
    const session = await run(bench);
    assert.ok(session.lastEnd?.type === "failed" && session.lastEnd.failure.code === "unauthorized");
    assert.equal(bench.scripted.requests.length, 1);
    assert.equal(session.account.tokens, 0, "a rejected request is not charged");
  });

  it("names the solution if a request may be rejected for an image", async () => {
    const rejected = failure("request-rejected", "could not process image", { retry: "other-model" });
    const bench = openBench({ script: () => ({ failure: rejected }) });
    const log = await begin(bench);
    const images = [{ type: "image", mediaType: "image/png", base64: "AAAA" }] as const;
    await bench.store.offer("s1", { type: "message", text: "look", images });
    const session = await run(bench, log);
    assert.match(JSON.stringify(session.lastEnd), /image that it does not take, rewind the session/);
    const without = await run(openBench({ script: () => ({ failure: rejected }) }));
    assert.doesNotMatch(JSON.stringify(without.lastEnd), /rewind/);
  });

  it("bounds attempts and the time spent failing", async () => {
    const bench = openBench({ script: () => ({ failure: broken }) });
    const begun = bench.clock.now();
    await run(bench);
    assert.ok(bench.scripted.requests.length <= 16);
    assert.ok(bench.clock.now() - begun <= 300_000);
    const slow = openBench({
      script: () => ({ failure: { ...broken, retry: { afterMs: 200_000 } } as Failure }),
    });
    await run(slow);
    assert.equal(slow.scripted.requests.length, 2);
  });

  it("charges the known usage of an empty answer", async () => {
    const usage = { input: 100, cached: 0, written: 0, output: 20, reasoning: 0 };
    const bench = openBench({ script: [{ usage }, { text: "ok", usage }] });
    const session = await run(bench);
    assert.deepEqual([session.lastEnd, session.account.tokens], [{ type: "done" }, 240]);
  });

  it("does not retry what a model declined silently", async () => {
    const bench = openBench({ script: [{ reason: "refused" }, { text: "ok" }] });
    const { lastEnd } = await run(bench);
    assert.equal(lastEnd?.type === "failed" && lastEnd.failure.code, "content-refused");
    assert.equal(bench.scripted.requests.length, 1);
  });

  it("charges the reservation if the usage will never be known", async () => {
    const bench = openBench({ script: [{ failure: broken }, { text: "ok" }] });
    const session = await run(bench);
    assert.ok(session.account.tokens > 8000, `${session.account.tokens}`);
  });
});
