/** Tests the loop with a scripted model: turns, permissions, and the log. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { failure, fold, isFailure } from "@lathe/protocol";
import { createHandMovedClock } from "@lathe/testkit";
import {
  agentOf,
  answerTo,
  assertValidConversation,
  type BenchTool,
  begin,
  openBench,
  roles,
  run,
  say,
  types,
  until,
  unwrap,
} from "./bench.test.ts";
import { drive } from "./drive.ts";

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

  it("runs calls and returns their results in source order", async () => {
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

  it("treats a file write as a barrier between the calls around it", async () => {
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

  it("logs the intent durably before a call that may change anything runs", async () => {
    const bench = openBench({ script: [{ calls: [say("x")] }, { text: "ok" }] });
    const log = await begin(bench);
    const durable: string[] = [];
    const watched: typeof log = {
      ...log,
      append: (drafts, options) => {
        if (options.durable)
          durable.push(...drafts.map((draft) => `${draft.type} after ${bench.done.length}`));
        return log.append(drafts, options);
      },
    };
    await run(bench, watched);
    assert.ok(durable.includes("tool.started after 0"));
  });

  it("tells the model about unknown tools and broken arguments", async () => {
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

  it("ends with a report if a tool has a bug, and leaves a valid conversation", async () => {
    const broken = { name: "broken", run: () => assert.fail("boom") };
    const bench = openBench({
      tools: [broken],
      script: [{ calls: [{ tool: "broken", input: {} }, say("x")] }],
    });
    const session = await run(bench);
    assert.ok(session.lastEnd?.type === "failed" && session.lastEnd.failure.code === "bug");
    assertValidConversation(session);
  });

  it("logs what calls running beside a buggy one did", async () => {
    const slow: BenchTool = {
      name: "slow",
      run: async (_input, { signal }, { done }) => {
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        // Some work remains after the call was told to stop.
        for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
        done.push("slow");
        return { type: "ok", text: "changed something" };
      },
    };
    const broken = { name: "broken", run: () => assert.fail("boom") };
    const calls = [
      { tool: "slow", input: {} },
      { tool: "broken", input: {} },
    ];
    const bench = openBench({ tools: [slow, broken], script: [{ calls }], clock: createHandMovedClock() });
    const session = await run(bench);
    assert.ok(session.lastEnd?.type === "failed" && session.lastEnd.failure.code === "bug");
    assert.deepEqual(bench.done, ["slow"]);
    assert.match(JSON.stringify(session.messages.at(-1)), /changed something/);
    assertValidConversation(session);
  });

  it("accepts an empty answer after calls as the end, but not as an answer to a person", async () => {
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

  it("runs and keeps nothing of an answer with too many calls, or too long ones, and says so", async () => {
    const many = Array.from({ length: 20_000 }, (_, at) => say(`n${at}`));
    const large = [say("x".repeat(17_000_000))];
    for (const calls of [many, large]) {
      const bench = openBench({ script: [{ calls }, { calls: [say("a")] }, { text: "ok" }] });
      const session = await run(bench);
      assert.deepEqual(session.lastEnd, { type: "done" });
      assert.deepEqual(bench.done, ["say a"]);
      const log = unwrap(await bench.store.read("s1"));
      const failed = log.filter(({ type }) => type === "step.failed");
      assert.deepEqual(
        failed.map(({ data }) => (data as { failure: { code: string } }).failure.code),
        ["too-large"],
      );
      assert.ok(JSON.stringify(log).length < 100_000);
      assertValidConversation(session);
    }
  });

  it("ends a turn whose answers keep asking for too much", async () => {
    const calls = Array.from({ length: 129 }, (_, at) => say(`n${at}`));
    const bench = openBench({
      script: Array.from({ length: 20 }, () => ({ calls })),
    });
    const session = await run(bench);
    assert.ok(session.lastEnd?.type === "failed" && session.lastEnd.failure.code === "too-large");
    assert.deepEqual(bench.done, []);
    assertValidConversation(session);
  });

  it("distinguishes calls that have the same ID, or none", async () => {
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

  it("distinguishes calls of a server that numbers them anew in each answer", async () => {
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

  it("continues after an answer cut at the output limit, three times at most", async () => {
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

  it("refuses what a rule denies, and continues the turn", async () => {
    const bench = openBench({ script: [{ calls: [say("x")] }, { text: "ok" }], decide: () => deny });
    const session = await run(bench);
    assert.deepEqual(bench.done, []);
    assert.deepEqual(session.lastEnd, { type: "done" });
    assert.ok(types(bench).includes("permission.decided"));
  });

  it("ends the turn if a person is needed and cannot be asked", async () => {
    const session = await run(
      openBench({ script: [{ calls: [say("x")] }, { text: "ok" }], decide: () => ask }),
    );
    assert.deepEqual(session.lastEnd, { type: "permission", text: "no sandbox" });
    assertValidConversation(session);
  });

  for (const [answer, done, said] of [
    ["allow", ["say x"], undefined],
    ["deny", [], undefined],
    ["use the other one", [], "use the other one"],
  ] as const) {
    it(`asks an attended person, who answers ${answer}`, async () => {
      const bench = openBench({
        script: [{ calls: [say("x")] }, { text: "ok" }],
        decide: () => ask,
        settings: { attended: true },
      });
      const log = await begin(bench);
      const session = run(bench, log);
      await until(() => types(bench).includes("question.asked"));
      bench.clock.advance(5000);
      await answerTo(bench, "c0.0", answer);
      const { lastEnd, messages } = await session;
      assert.deepEqual(lastEnd, { type: "done" });
      assert.deepEqual(bench.done, done);
      const results = messages.flatMap(({ role, parts }) => (role === "tool" ? parts : []));
      assert.equal(results[0]?.said, said);
    });
  }
});

describe("the log", () => {
  it("prevents effects of an owner that was deposed", async () => {
    const bench = openBench({
      script: [{ calls: [say("x"), { tool: "get", input: { path: "f" } }] }, { text: "ok" }],
    });
    const log = await begin(bench);
    const deposed = { ...log, check: async () => failure("stale-epoch", "claimed elsewhere") };
    const session = unwrap(
      await drive(deposed, fold(unwrap(await bench.store.read("s1"))), agentOf(bench.ports)),
    );
    assert.deepEqual(bench.done, ["get f"]);
    assertValidConversation(session);
  });

  it("ends the drive with the store's failure if another owner has claimed the session", async () => {
    const bench = openBench({
      script: () => ({ calls: [say(`${bench.done.length}`)] }),
      limits: { steps: 5 },
    });
    const log = await begin(bench);
    const stolen: typeof log = {
      ...log,
      append: async (drafts, options) =>
        bench.done.length === 2 ? failure("stale-epoch", "claimed elsewhere") : log.append(drafts, options),
    };
    const session = fold(unwrap(await bench.store.read("s1")));
    const result = await drive(stolen, session, agentOf(bench.ports));
    assert.ok(isFailure(result) && result.code === "stale-epoch");
    assert.equal(bench.done.length, 2);
  });
});
