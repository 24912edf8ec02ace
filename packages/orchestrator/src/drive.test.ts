import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { emptySession, type Failure, failure, fold, isFailure, type Session } from "@lathe/protocol";
import { createHandMovedClock } from "@lathe/testkit";
import { retryDelay } from "./after-failure.ts";
import {
  assertValidConversation,
  type Bench,
  type BenchTool,
  begin,
  openBench,
  run,
  unwrap,
} from "./bench.test.ts";
import { reserve } from "./caps.ts";
import { drive } from "./drive.ts";

const roles = (session: Session) => session.messages.map((message) => message.role).join(" ");
const types = (bench: Bench) => bench.events.map((event) => event.type);
const say = (text: string, id?: string) => ({ tool: "say", input: { text }, ...(id ? { id } : {}) });

describe("a turn", () => {
  it("ends when the model answers without calls", async () => {
    const bench = openBench({ script: [{ text: "hello" }] });
    const session = await run(bench);
    assert.deepEqual(session.lastEnd, { type: "done" });
    assert.equal(session.turn, undefined);
    assert.equal(roles(session), "user assistant");
    assert.equal(session.usage.input, 1000);
    assert.ok(Math.abs(session.account.cost - 0.0015) < 1e-9);
    assert.deepEqual(session.account.reserved, {});
  });

  it("runs calls and hands their results back in source order", async () => {
    const gate = Promise.withResolvers<void>();
    const slow = {
      name: "slow",
      run: async () => {
        await gate.promise;
        return { type: "ok", text: "slow" } as const;
      },
    };
    const fast = {
      name: "fast",
      run: () => {
        gate.resolve();
        return { type: "ok", text: "fast" } as const;
      },
    };
    const calls = [
      { tool: "slow", input: {} },
      { tool: "fast", input: {} },
    ];
    const bench = openBench({ tools: [slow, fast], script: [{ calls }, { text: "ok" }] });
    const session = await run(bench);
    const results = session.messages[2];
    assert.ok(results?.role === "tool");
    assert.deepEqual(
      results.parts.map((part) => part.text),
      ["slow", "fast"],
    );
    const completed = bench.events.flatMap((event) =>
      event.type === "tool.completed" ? [event.data.call] : [],
    );
    assert.deepEqual(completed, ["c0.1", "c0.0"], "the log has them in the order they ended");
  });

  it("lets a file write be a barrier between the calls around it", async () => {
    const put = (text: string) => ({ tool: "put", input: { path: "f", text } });
    const get = { tool: "get", input: { path: "f" } };
    const bench = openBench({ script: [{ calls: [put("1"), get, get, put("2"), get] }, { text: "ok" }] });
    const session = await run(bench);
    const results = session.messages[2];
    assert.ok(results?.role === "tool");
    assert.deepEqual(
      results.parts.map((part) => part.text),
      ["wrote f", "1", "1", "wrote f", "2"],
    );
  });

  it("makes the intent durable before a call that may change anything runs", async () => {
    const bench = openBench({ script: [{ calls: [say("x")] }, { text: "ok" }] });
    const log = await begin(bench);
    const durable: string[] = [];
    const watched = {
      ...log,
      append: (...[drafts, options]: Parameters<typeof log.append>) => {
        if (options.durable)
          durable.push(...drafts.map((draft) => `${draft.type} after ${bench.done.length}`));
        return log.append(drafts, options);
      },
    };
    await run(bench, watched);
    assert.ok(durable.includes("tool.started after 0"));
  });

  it("tells the model of unknown tools and broken arguments", async () => {
    const calls = [
      { tool: "nope", input: {} },
      { tool: "say", input: '{"text": ' },
    ];
    const session = await run(openBench({ script: [{ calls }, { text: "ok" }] }));
    const results = session.messages[2];
    assert.ok(results?.role === "tool" && results.parts.every((part) => part.failed));
    assert.match(results.parts[0]?.text ?? "", /unknown-tool.*the tools are put, get, say/);
    assert.match(results.parts[1]?.text ?? "", /invalid-arguments/);
    assertValidConversation(session);
  });

  it("ends with a report when a tool has a bug, and leaves a valid conversation", async () => {
    const broken = { name: "broken", run: () => assert.fail("boom") };
    const bench = openBench({
      tools: [broken],
      script: [{ calls: [{ tool: "broken", input: {} }, say("x")] }],
    });
    const session = await run(bench);
    assert.ok(session.lastEnd?.type === "failed" && session.lastEnd.failure.code === "bug");
    assertValidConversation(session);
  });

  it("takes silence after calls for the end, and as an answer to a person for a fault", async () => {
    assert.deepEqual((await run(openBench({ script: [{ calls: [say("x")] }, {}] }))).lastEnd, {
      type: "done",
    });
    assert.deepEqual((await run(openBench({ script: [{}, { text: "here I am" }] }))).lastEnd, {
      type: "done",
    });
    const end = (await run(openBench({ script: [{}, {}, { text: "too late" }] }))).lastEnd;
    assert.equal(end?.type, "failed");
    assert.equal(end.failure.code, "answer-empty");
  });

  it("tells calls apart that came with one id, or none", async () => {
    const calls = [
      { ...say("a"), id: "x" },
      { ...say("b"), id: "x" },
      { ...say("c"), id: "" },
    ];
    const session = await run(openBench({ script: [{ calls }, { text: "ok" }] }));
    const results = session.messages[2];
    assert.ok(results?.role === "tool");
    assert.deepEqual(
      results.parts.map(({ text }) => text),
      ["said a", "said b", "said c"],
    );
    assert.equal(new Set(results.parts.map(({ id }) => id)).size, 3);
    assertValidConversation(session);
  });

  it("tells calls apart of a server that counts anew in each answer", async () => {
    const script = [{ calls: [say("a", "call_0")] }, { calls: [say("b", "call_0")] }, { text: "ok" }];
    const session = await run(openBench({ script }));
    const ids = session.messages.flatMap((message) => (message.role === "tool" ? message.parts : []));
    assert.deepEqual(
      ids.map(({ text }) => text),
      ["said a", "said b"],
    );
    assert.equal(new Set(ids.map(({ id }) => id)).size, 2);
    assertValidConversation(session);
  });

  it("leaves no timer behind after its calls", async () => {
    const clock = createHandMovedClock();
    await run(openBench({ clock, script: [{ calls: [say("a"), say("b")] }, { text: "done" }] }));
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(clock.sleepers(), 0);
  });

  it("goes on after an answer cut at the output limit, three times at most", async () => {
    const cut = { text: "partial", reason: "length" } as const;
    assert.deepEqual((await run(openBench({ script: [cut, { text: "ok" }] }))).lastEnd, { type: "done" });
    const session = await run(openBench({ script: () => cut }));
    assert.ok(session.lastEnd?.type === "failed" && session.lastEnd.failure.code === "answer-truncated");
    assert.equal(session.messages.filter((message) => message.role === "assistant").length, 3);
  });
});

describe("permissions", () => {
  const deny = { verdict: "deny", rule: "no-say", why: "not here" } as const;
  const ask = { verdict: "ask", rule: "careful", why: "no sandbox" } as const;

  it("refuses what a rule denies, and the turn goes on", async () => {
    const bench = openBench({ script: [{ calls: [say("x")] }, { text: "ok" }], decide: () => deny });
    const session = await run(bench);
    assert.deepEqual(bench.done, []);
    assert.deepEqual(session.lastEnd, { type: "done" });
    assert.ok(types(bench).includes("permission.decided"));
  });

  it("ends the turn when a person is needed and nobody can be asked", async () => {
    const session = await run(
      openBench({ script: [{ calls: [say("x")] }, { text: "ok" }], decide: () => ask }),
    );
    assert.deepEqual(session.lastEnd, { type: "permission", text: "no sandbox" });
    assertValidConversation(session);
  });

  for (const [answer, done] of [
    ["allow", ["say x"]],
    ["deny", []],
    ["use the other one", []],
  ] as const) {
    it(`asks an attended person, who says ${answer}`, async () => {
      const bench = openBench({
        script: [{ calls: [say("x")] }, { text: "ok" }],
        decide: () => ask,
        settings: { attended: true },
      });
      const log = await begin(bench);
      const session = run(bench, log);
      await until(() => types(bench).includes("question.asked"));
      bench.clock.advance(5000);
      await bench.store.offer("s1", { type: "answer", call: "c0.0", answer, by: "user" });
      assert.deepEqual((await session).lastEnd, { type: "done" });
      assert.deepEqual(bench.done, done);
    });
  }
});

describe("the inbox", () => {
  it("hears a message that comes while calls run, after their results", async () => {
    const steer: { bench?: Bench } = {};
    const tool = {
      name: "wait",
      run: async () => {
        await steer.bench?.store.offer("s1", { type: "message", text: "and also this" });
        return { type: "ok", text: "" } as const;
      },
    };
    const bench = openBench({
      tools: [tool],
      script: [{ calls: [{ tool: "wait", input: {} }] }, { text: "ok" }],
    });
    steer.bench = bench;
    const session = await run(bench);
    assert.equal(roles(session), "user assistant tool user assistant");
    assertValidConversation(session);
  });

  it("cancels a model that says nothing", async () => {
    const bench = openBench({ script: [{ text: "thinking", hangs: true }] });
    const session = run(bench);
    await until(() => bench.deltas.length > 0);
    await bench.store.offer("s1", { type: "cancel", by: "user" });
    assert.deepEqual((await session).lastEnd, { type: "cancelled", by: "user" });
  });

  it("cancels a tool that does not listen, and leaves a valid conversation", async () => {
    const deaf = { name: "deaf", run: () => new Promise<never>(() => {}) };
    const bench = openBench({ tools: [deaf], script: [{ calls: [{ tool: "deaf", input: {} }, say("x")] }] });
    const session = run(bench);
    await until(() => types(bench).includes("tool.started"));
    await bench.store.offer("s1", { type: "cancel", by: "user" });
    const ended = await session;
    assert.deepEqual(ended.lastEnd, { type: "cancelled", by: "user" });
    assertValidConversation(ended);
  });

  it("cancels while it waits to try again", async () => {
    const clock = createHandMovedClock();
    const overloaded = failure("overloaded", "busy", { retry: "same" });
    const bench = openBench({ clock, script: () => ({ failure: overloaded }) });
    const session = run(bench);
    await until(() => clock.sleepers() > 0);
    await bench.store.offer("s1", { type: "cancel", by: "user" });
    assert.deepEqual((await session).lastEnd, { type: "cancelled", by: "user" });
  });
});

describe("failing attempts", () => {
  const broken = failure("stream-broken", "the stream broke", { retry: "same" });

  it("voids what was shown, tries again, and never executes a discarded call", async () => {
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

  it("waits as long as the provider asks", async () => {
    const limited = failure("rate-limited", "slow down", { retry: { afterMs: 7000 } });
    const bench = openBench({ script: [{ failure: limited }, { text: "ok" }] });
    const begun = bench.clock.now();
    await run(bench);
    assert.equal(bench.clock.now() - begun, 7000);
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

  it("never tries again sooner than its own back-off", () => {
    const problem = failure("rate-limited", "12 ms", { retry: { afterMs: 12 } });
    assert.deepEqual(
      [0, 1, 2].map((before) => retryDelay(problem, before, 1)),
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
    assert.equal(lost.scripted.requests.length, 9);
  });

  it("charges nothing for a request that a server failed on", async () => {
    const down = failure("server-error", "500", { retry: "same" });
    const session = await run(openBench({ script: (_, i) => (i < 2 ? { failure: down } : { text: "ok" }) }));
    assert.ok(session.account.tokens < 8000, `${session.account.tokens}`);
  });

  it("gives up at once when trying again cannot help", async () => {
    const bench = openBench({ script: () => ({ failure: failure("unauthorized", "wrong key") }) });
    const session = await run(bench);
    assert.ok(session.lastEnd?.type === "failed" && session.lastEnd.failure.code === "unauthorized");
    assert.equal(bench.scripted.requests.length, 1);
    assert.equal(session.account.tokens, 0, "a rejected request is not charged");
  });

  it("bounds attempts and the time spent failing", async () => {
    const bench = openBench({ script: () => ({ failure: broken }) });
    await run(bench);
    assert.equal(bench.scripted.requests.length, 8);
    const slow = openBench({
      script: () => ({ failure: { ...broken, retry: { afterMs: 200_000 } } as Failure }),
    });
    await run(slow);
    assert.equal(slow.scripted.requests.length, 2);
  });

  it("charges the reservation when the usage will never be known", async () => {
    const bench = openBench({ script: [{ failure: broken }, { text: "ok" }] });
    const session = await run(bench);
    assert.ok(session.account.tokens > 8000, `${session.account.tokens}`);
  });
});

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

  it("shortens the answer asked for to what the cap still buys", async () => {
    const bench = openBench({ script: [{ text: "ok" }], limits: { cost: 0.02 } });
    await run(bench);
    const asked = bench.scripted.requests[0]?.maxOutputTokens ?? 0;
    assert.ok(asked > 1024 && asked < 8000, `${asked}`);
  });
});

describe("more caps", () => {
  it("ends within the token cap, what is reserved included", async () => {
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
    await bench.store.offer("s1", { type: "answer", call: "c0.0", answer: "allow", by: "user" });
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

  it("asks for no more than the window still holds", () => {
    const info = { id: "local/x", window: 16_384, maxOutput: 16_000 };
    const request = {
      system: "",
      tools: [],
      messages: [],
      cacheMarks: [],
      maxOutputTokens: 16_000,
      cacheKey: "k",
    };
    const asked = (input: number): unknown => {
      const reserved = reserve(emptySession, info, { request, input });
      return "request" in reserved && reserved.request.maxOutputTokens;
    };
    assert.deepEqual([100, 5_000, 16_000, 20_000].map(asked), [16_000, 11_384, 1_024, 1_024]);
  });
});

describe("the loop guard", () => {
  it("tells the model once of a cycle of any length, then ends the turn", async () => {
    for (const length of [1, 2, 3, 4]) {
      const script = (_: unknown, i: number) => ({ calls: [{ tool: "fails", input: { step: i % length } }] });
      const bench = openBench({ tools: [failing], script });
      assert.equal((await run(bench)).lastEnd?.type, "loop");
      assert.equal(types(bench).filter((type) => type === "notice.posted").length, 1, `cycle of ${length}`);
      assert.equal(bench.scripted.requests.length, 5 * length);
    }
  });

  it("sees a server started again and again, though it produces", async () => {
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

  it("nudges at the third repeat and ends the turn at the fifth", async () => {
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

  it("lets a poller of a producing process go on", async () => {
    const facts = { process: { id: "p1", running: true, produced: true } };
    const poll = { name: "poll", run: () => ({ type: "ok", text: "tick", facts }) as const };
    const script = (_: unknown, i: number) =>
      i < 12 ? { calls: [{ tool: "poll", input: {} }] } : { text: "ok" };
    assert.deepEqual((await run(openBench({ tools: [poll], script }))).lastEnd, { type: "done" });
  });

  it("starts counting again when a file changed", async () => {
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

describe("the log", () => {
  it("keeps an owner that was deposed from having effects", async () => {
    const bench = openBench({
      script: [{ calls: [say("x"), { tool: "get", input: { path: "f" } }] }, { text: "ok" }],
    });
    const log = await begin(bench);
    const deposed = { ...log, check: async () => failure("stale-epoch", "claimed elsewhere") };
    const session = unwrap(await drive(deposed, fold(unwrap(await bench.store.read("s1"))), bench.ports));
    assert.deepEqual(bench.done, ["get f"]);
    assertValidConversation(session);
  });

  it("ends the drive with the store's failure when another owner has claimed the session", async () => {
    const bench = openBench({
      script: () => ({ calls: [say(`${bench.done.length}`)] }),
      limits: { steps: 5 },
    });
    const log = await begin(bench);
    const stolen = {
      ...log,
      append: async (...[drafts, options]: Parameters<typeof log.append>) =>
        bench.done.length === 2 ? failure("stale-epoch", "claimed elsewhere") : log.append(drafts, options),
    };
    const session = fold(unwrap(await bench.store.read("s1")));
    const result = await drive(stolen, session, bench.ports);
    assert.ok(isFailure(result) && result.code === "stale-epoch");
    assert.equal(bench.done.length, 2);
  });
});

async function until(condition: () => boolean): Promise<void> {
  for (let i = 0; i < 2000 && !condition(); i++) await new Promise((resolve) => setTimeout(resolve, 1));
  assert.ok(condition(), "it never came");
}
