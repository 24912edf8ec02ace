/** Failover along the chain and back, by circuits that the log alone explains. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Event, type Failure, failure, fold, type Models, type Session } from "@lathe/protocol";
import {
  createHandMovedClock,
  createScriptedModel,
  type HandMovedClock,
  type ScriptedAnswer,
} from "@lathe/testkit";
import { fc } from "@lathe/testkit/properties";
import { type Bench, type BenchPorts, begin, openBench, roles, run, say, unwrap } from "../bench.test.ts";

const down = failure("overloaded", "busy", { retry: "same" });
const broken: ScriptedAnswer = { text: "half", failure: down };
const minute = 60_000;

interface Chained {
  readonly bench: Bench;
  readonly clock: HandMovedClock;
  /** Models in the order in which they were called. */
  readonly asked: string[];
  run(): Promise<Session>;
}

type Answer = (model: string, at: number) => ScriptedAnswer;

/** A chain of models that one function answers for; it receives the model and the time since the start. */
function chain(
  models: readonly string[],
  answer: Answer,
  more: Partial<BenchPorts> & { readonly windows?: Readonly<Record<string, number>> } = {},
): Chained {
  const clock = createHandMovedClock({ leap: true });
  const begun = clock.now();
  const asked: string[] = [];
  const bench = openBench({ script: [], clock, settings: { models } });
  const { windows, ...ports } = more;
  const open: Models["open"] = async (id) => {
    const script = () => {
      asked.push(id);
      return answer(id, clock.now() - begun);
    };
    const window = windows?.[id];
    return createScriptedModel(script, { id, ...(window && { window }) }).model;
  };
  const whole = { ...bench, ports: { ...bench.ports, models: { open }, ...ports } };
  return { bench, clock, asked, run: () => run(whole) };
}

/** `steps` answers with a call that takes `ms`, then the end. */
function working(chained: () => Chained, steps: number, ms: number): () => ScriptedAnswer {
  let done = 0;
  return () => {
    chained().clock.advance(ms);
    return done++ < steps ? { calls: [say(`${done}`)] } : { text: "ok" };
  };
}

describe("failover", () => {
  it("stays with the model that took over until the first one's pause is over, and goes back", async () => {
    const go: () => ScriptedAnswer = working(() => it, 8, 10_000);
    const it: Chained = chain(["a", "b"], (model, at) => (model === "a" && at < 20_000 ? broken : go()));
    const session = await it.run();
    assert.deepEqual(session.lastEnd, { type: "done" });
    const told = it.asked.join("");
    assert.match(told, /^aaabb+aaa+$/);
    assert.deepEqual([session.model, session.circuits], ["a", {}]);
  });

  it("loses no step by a failing test of a paused model, and each pause is longer than the last", async () => {
    const go: () => ScriptedAnswer = working(() => it, 30, 10_000);
    const it: Chained = chain(["a", "b"], (model) => (model === "a" ? broken : go()));
    const session = await it.run();
    assert.deepEqual(session.lastEnd, { type: "done" });
    const looks = it.asked.join("").split("b").join(" ").split(/ +/).slice(1);
    assert.deepEqual(new Set(looks), new Set(["a", ""]), "one attempt each");
    const at = (i: number) => it.asked.flatMap((id, n) => (id === "a" && n > 2 ? [n] : []))[i] ?? 0;
    assert.ok(at(2) - at(1) > at(1) - at(0), it.asked.join(""));
    assert.equal(session.model, "b");
    assert.equal(roles(session).match(/user/g)?.length, 2, "the words of the user, and one note");
    assert.equal(it.bench.done.length, 30);
  });

  it("does not count a failing test of a paused model", async () => {
    const go: () => ScriptedAnswer = working(() => it, 6, 10_000);
    const it: Chained = chain(["a", "b"], (model) => (model === "a" ? broken : go()));
    const limited = { ...it.bench, options: { ...it.bench.options, limits: { failures: 4 } } };
    const log = await begin(limited);
    const session = await run({ ...limited, ports: { ...limited.ports, models: opened(it, go) } }, log);
    assert.deepEqual(session.lastEnd, { type: "done" });
  });

  it("goes round: from the last model back to the first once its pause is over", async () => {
    const it: Chained = chain(["a", "b", "c"], (model, at) =>
      model === "a" && at > minute ? { text: "ok" } : broken,
    );
    const session = await it.run();
    assert.deepEqual(session.lastEnd, { type: "done" });
    assert.match(it.asked.join(""), /^aaabbbccc+.*a$/);
    assert.equal(session.model, "a");
  });

  it("finds the working model, whichever it is and whenever it recovers", async () => {
    for (const lives of ["a", "b", "c"]) {
      for (const since of [0, 10_000, 100_000, 200_000]) {
        const it = chain(["a", "b", "c"], (model, at) =>
          model === lives && at >= since ? { text: "ok" } : broken,
        );
        assert.deepEqual((await it.run()).lastEnd, { type: "done" }, `${lives} since ${since}`);
      }
    }
  });

  it("bounds attempts and time over all models", async () => {
    const it = chain(["a", "b", "c"], () => broken);
    const begun = it.clock.now();
    const session = await it.run();
    assert.equal(session.lastEnd?.type, "failed");
    assert.ok(it.asked.length <= 48, `${it.asked.length} attempts`);
    assert.ok(it.clock.now() - begun <= 300_000, `${it.clock.now() - begun} ms`);
  });

  it("bounds the time that a turn loses, however often it recovers", async () => {
    let tries = 0;
    const it: Chained = chain(["a"], () => (++tries % 6 === 0 ? { calls: [say(`${tries}`)] } : broken));
    const begun = it.clock.now();
    const session = await run(
      { ...it.bench, ports: { ...it.bench.ports, models: slow(it, () => ++tries) } },
      undefined,
    );
    assert.equal(session.lastEnd?.type, "failed");
    const steps = session.step;
    assert.ok(it.clock.now() - begun <= 300_000 + (steps + 1) * 2 * minute, `${steps} steps`);
    assert.ok(steps > 0 && steps < 12, `${steps} steps`);
  });

  it("leaves at once a model that asks to wait too long, and says so if there is no other", async () => {
    const later: Failure = failure("rate-limited", "later", { retry: { afterMs: 3_600_000 } });
    const two = chain(["a", "b"], (model) => (model === "a" ? { failure: later } : { text: "ok" }));
    assert.deepEqual((await two.run()).lastEnd, { type: "done" });
    assert.deepEqual(two.asked, ["a", "b"]);
    const one = chain(["a"], () => ({ failure: later }));
    const end = (await one.run()).lastEnd;
    assert.match(end?.type === "failed" ? end.failure.text : "", /asks to wait 60 minutes/);
    assert.equal(one.asked.length, 1);
  });

  it("hands a conversation that is too long to a wider model, past narrower ones, and says what to do", async () => {
    const long: Failure = failure("context-overflow", "too long", { retry: "other-model" });
    const windows = { a: 200_000, b: 100_000, c: 1_000_000 };
    const it = chain(["a", "b", "c"], (model) => (model === "c" ? { text: "ok" } : { failure: long }), {
      windows,
    });
    const session = await it.run();
    assert.deepEqual([session.lastEnd, it.asked], [{ type: "done" }, ["a", "c"]]);
    const none = chain(["a", "b"], () => ({ failure: long }), { windows });
    const end = (await none.run()).lastEnd;
    assert.match(end?.type === "failed" ? end.failure.text : "", /earlier step.*larger window/);
    assert.deepEqual(none.asked, ["a"]);
  });

  it("uses what other sessions found out, and the log says so", async () => {
    const until = createHandMovedClock().now() + minute;
    const circuitNews = (model: string) =>
      model === "a" ? ({ until, code: "overloaded", why: "busy", opens: 1 } as const) : undefined;
    const go: () => ScriptedAnswer = working(() => it, 10, 10_000);
    const it: Chained = chain(["a", "b"], go, { circuitNews });
    const session = await it.run();
    assert.match(it.asked.join(""), /^b+a+$/);
    const events = unwrap(await it.bench.store.read("s1"));
    assert.equal(events.filter(({ type }) => type === "circuit.heard").length, 1);
    assert.deepEqual(fold(events), session);
    const alone = chain(["a"], () => ({ text: "ok" }), { circuitNews });
    assert.deepEqual((await alone.run()).lastEnd, { type: "done" });
  });

  it("tries a model that only other sessions gave up before it gives up itself", async () => {
    const until = createHandMovedClock().now() + 60 * minute;
    const circuitNews = (model: string) =>
      model === "b" ? ({ until, code: "overloaded", why: "busy", opens: 5 } as const) : undefined;
    const it = chain(["a", "b"], (model) => (model === "b" ? { text: "ok" } : broken), { circuitNews });
    assert.deepEqual((await it.run()).lastEnd, { type: "done" });
  });
});

describe("failover, whatever fails", () => {
  const kinds: readonly Failure[] = [
    down,
    failure("stalled", "silent", { retry: "same" }),
    failure("rate-limited", "slow down", { retry: { afterMs: 40_000 } }),
    failure("rate-limited", "come back", { retry: { afterMs: 500_000 } }),
    failure("rate-limited", "no credit", { retry: "other-model" }),
    failure("unauthorized", "no key", { retry: "other-model" }),
    failure("context-overflow", "too long", { retry: "other-model" }),
    failure("unreachable", "gone", { retry: "same" }),
  ];
  const fates = fc.array(fc.tuple(fc.nat(kinds.length + 3), fc.nat(30_000)), { maxLength: 60 });

  it("ends within its budget, and the log folds to the same session", () =>
    fc.assert(
      fc.asyncProperty(fates, fc.integer({ min: 1, max: 4 }), async (list, models) => {
        let tries = 0;
        const it: Chained = chain(["a", "b", "c", "d"].slice(0, models), () => {
          const [fate, ms] = list[tries++] ?? [kinds.length, 0];
          it.clock.advance(ms);
          const problem = kinds[fate];
          if (problem) return { text: "half", failure: problem };
          return tries < list.length ? { calls: [say(`${tries}`)] } : { text: "ok" };
        });
        const session = await it.run();
        const events = unwrap(await it.bench.store.read("s1"));
        assert.deepEqual(fold(events), session);
        assert.equal(session.turn, undefined);
        assert.ok(["done", "failed"].includes(session.lastEnd?.type ?? ""));
        assert.ok(lost(events) <= 300_000 + (session.step + 1) * (minute + models * 30_000));
        assert.deepEqual(it.bench.done, [...new Set(it.bench.done)]);
      }),
      { numRuns: 150 },
    ));
});

/** From the first failure after an answer to the next answer or the end, in milliseconds. */
function lost(events: readonly Event[]): number {
  let since: number | undefined;
  let sum = 0;
  for (const { type, at } of events) {
    if (type === "step.failed") since ??= at;
    if (type !== "step.completed" && type !== "turn.ended") continue;
    sum += since === undefined ? 0 : at - since;
    since = undefined;
  }
  return sum;
}

function opened(it: Chained, go: () => ScriptedAnswer): Models {
  return {
    open: async (id) =>
      createScriptedModel(
        () => {
          it.asked.push(id);
          return id === "a" ? broken : go();
        },
        { id },
      ).model,
  };
}

/** Every sixth attempt answers, the others take 20 seconds to fail. */
function slow(it: Chained, count: () => number): Models {
  return {
    open: async (id) =>
      createScriptedModel(
        () => {
          const tries = count();
          if (tries % 6 === 0) return { calls: [say(`${tries}`)] };
          it.clock.advance(20_000);
          return broken;
        },
        { id },
      ).model,
  };
}
