/** Tests limits that end a turn, and the size of an attempt. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { costOf, emptySession, emptyTreeAccount, type ModelRequest } from "@lathe/protocol";
import { fc } from "@lathe/testkit/properties";
import {
  answerTo,
  assertValidConversation,
  type BenchTool,
  openBench,
  run,
  say,
  types,
  until,
} from "../bench.test.ts";
import { reserve } from "./caps.ts";

function requestOf(maxOutputTokens: number): ModelRequest {
  return { system: "", tools: [], messages: [], cacheMarks: [], maxOutputTokens, cacheKey: "k" };
}

describe("caps", () => {
  const endless = () => ({ calls: [say(`${Math.random()}`)] });

  it("ends after the allowed steps", async () => {
    const session = await run(openBench({ script: endless, limits: { steps: 4 } }));
    assert.ok(session.lastEnd?.type === "limit" && session.lastEnd.limit === "steps");
    assertValidConversation(session);
  });

  it("never spends more than the cost cap", async () => {
    const limits = { cost: 0.05 };
    const bench = openBench({ script: endless, limits });
    const session = await run(bench);
    assert.ok(session.lastEnd?.type === "limit" && session.lastEnd.limit === "cost");
    assert.ok(session.account.cost <= limits.cost && session.account.cost > 0.03, `${session.account.cost}`);
  });

  it("shortens the requested answer to what the cap can still pay for", async () => {
    const bench = openBench({ script: [{ text: "ok" }], limits: { cost: 0.02 } });
    await run(bench);
    const asked = bench.scripted.requests[0]?.maxOutputTokens ?? 0;
    assert.ok(asked > 1024 && asked < 8000, `${asked}`);
  });

  it("ends within the token cap, reservations included", async () => {
    const limits = { tokens: 20_000 };
    const session = await run(openBench({ script: () => ({ calls: [say(`${Math.random()}`)] }), limits }));
    assert.ok(session.lastEnd?.type === "limit" && session.lastEnd.limit === "tokens");
    assert.ok(session.account.tokens <= limits.tokens, `${session.account.tokens}`);
  });

  it("counts the time of the turn, but not the time a person takes to answer", async () => {
    const ask = { verdict: "ask", rule: "careful", why: "no sandbox" } as const;
    const bench = openBench({
      script: [{ calls: [say("x")] }, { text: "ok" }],
      decide: () => ask,
      settings: { attended: true },
      limits: { wallMs: 10_000 },
    });
    const session = run(bench);
    await until(() => types(bench).includes("question.asked"));
    bench.clock.advance(60_000);
    await answerTo(bench, "c0.0", "allow");
    assert.deepEqual((await session).lastEnd, { type: "done" });

    const slow: BenchTool = {
      name: "slow",
      run: (_input, _context, { clock }) => {
        clock.advance(10_001);
        return { type: "ok", text: "" };
      },
    };
    const late = openBench({
      tools: [slow],
      script: [{ calls: [{ tool: "slow", input: {} }] }, { text: "too late" }],
      limits: { wallMs: 10_000 },
    });
    const end = (await run(late)).lastEnd;
    assert.ok(end?.type === "limit" && end.limit === "wallMs");
  });

  it("requests no more than the window can still hold", () => {
    const info = { id: "local/x", window: 16_384, maxOutput: 16_000 };
    const request = requestOf(16_000);
    const asked = (input: number): unknown => {
      const reserved = reserve(emptySession, info, { request, input, tree: emptyTreeAccount });
      return "request" in reserved && reserved.request.maxOutputTokens;
    };
    assert.deepEqual([100, 5_000, 16_000, 20_000].map(asked), [16_000, 11_384, 1_024, 1_024]);
  });

  it("reserves no less than an attempt can cost, even if long requests cost more", () => {
    const rate = fc.double({ min: 0.01, max: 50, noNaN: true });
    const rates = fc.record({ input: rate, output: rate, cached: rate, written: rate });
    const tier = fc.tuple(rates, fc.integer({ min: 1, max: 100_000 }));
    const sizes = fc.record({ input: fc.nat(200_000), share: fc.double({ min: 0, max: 1, noNaN: true }) });
    fc.assert(
      fc.property(rates, tier, sizes, (short, [longer, above], { input, share }) => {
        const price = { ...short, tiers: [{ ...longer, above }] };
        const info = { id: "x/y", window: 1_000_000, maxOutput: 8000, price };
        const reserved = reserve(emptySession, info, {
          request: requestOf(8000),
          input,
          tree: emptyTreeAccount,
        });
        assert.ok("reservation" in reserved);
        const cached = Math.floor(input * share);
        const usage = { input, cached, written: input - cached, output: 8000, reasoning: 0 };
        assert.ok((costOf(usage, price) ?? 0) <= (reserved.reservation.cost ?? 0) * (1 + 1e-9));
      }),
    );
  });
});
