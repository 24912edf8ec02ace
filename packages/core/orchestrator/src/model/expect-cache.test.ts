/**
 * Tests what each step should read from the cache, and why one read less, against a provider that compares
 * real bytes.
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Event, emptySession, fold, type ModelRequest, type Session } from "@lathe/protocol";
import { createPrefixCache, createScriptedModel, type PrefixCache } from "@lathe/testkit";
import { agentOf, type Bench, type BenchPorts, begin, openBench, say, unwrap } from "../bench.test.ts";
import { drive } from "../drive.ts";
import { expectCache } from "./expect-cache.ts";

type Step = Event<"step.completed">["data"];

const minute = 60_000;
const rules = { min: 256, grain: 64, ttlMs: 5 * minute };
const system = "Be good. ".repeat(400);

/** The bytes in the order of a request. */
function bytesOf({ tools, system: start, messages }: ModelRequest): string {
  return [JSON.stringify(tools), start, ...messages.map((one) => JSON.stringify(one))].join(",");
}

interface Place {
  readonly bench: Bench;
  readonly ports: BenchPorts;
  readonly cache: PrefixCache;
  readonly requests: readonly ModelRequest[];
  /** Sends a message and drives until it is answered; returns the steps. */
  say(text: string): Promise<readonly Step[]>;
  session(): Promise<Session>;
}

interface Changes {
  /** The ID of a model that is requested under another name. */
  id?: string;
  request?: (request: ModelRequest) => ModelRequest;
}

/** Each turn makes three calls before it ends. */
async function open(changes: Changes = {}): Promise<Place> {
  const bench = openBench({ script: [] });
  const cache = createPrefixCache({ ...rules, now: bench.clock.now });
  const requests: ModelRequest[] = [];
  const models = {
    open: async (asked: string, id = changes.id ?? asked) =>
      createScriptedModel(
        (request) => {
          requests.push(request);
          const usage = cache.take(id, bytesOf(request));
          const since = request.messages.findLastIndex(({ role }) => role === "user");
          const steps = request.messages.slice(since).filter(({ role }) => role === "assistant").length;
          const text = `${request.messages.length} words and more `.repeat(20);
          const call = { ...say(text), id: `c${request.messages.length}` };
          return steps < 3 ? { calls: [call], usage } : { text: "done", usage };
        },
        { id, cache: rules },
      ).model,
  };
  const assemble = (session: Session): ModelRequest => {
    const request = {
      system,
      tools: [],
      messages: session.messages,
      cacheMarks: [],
      maxOutputTokens: 8000,
      cacheKey: "s1",
    };
    return changes.request?.(request) ?? request;
  };
  const ports: BenchPorts = { ...bench.ports, models, assemble };
  const log = await begin(bench, "first");
  const session = async (): Promise<Session> => fold(unwrap(await bench.store.read("s1")));
  let isFirst = true;
  return {
    bench,
    ports,
    cache,
    requests,
    session,
    say: async (text) => {
      if (!isFirst) await bench.store.offer("s1", { type: "message", text });
      isFirst = false;
      const from = bench.events.length;
      unwrap(await drive(log, await session(), agentOf(ports)));
      const steps = bench.events.slice(from).filter((event) => event.type === "step.completed");
      return steps.map(({ data }) => data);
    },
  };
}

const missOf = ({ cache }: Step): string | undefined => cache?.miss?.cause;

describe("the prompt cache", () => {
  it("is expected to give what it gives, while requests extend each other", async () => {
    const place = await open();
    const steps = [...(await place.say("first")), ...(await place.say("second"))];
    assert.equal(steps.length, 8);
    const told = steps.map(({ cache, usage }) => [cache?.expected, cache?.miss, usage?.cached]);
    for (const [expected, miss, cached] of told) assert.deepEqual([expected, miss], [cached, undefined]);
    assert.equal(told[0]?.[0], 0);
    assert.ok((told.at(-1)?.[0] as number) > 1000);
  });

  it("gets the end of the last answered request", async () => {
    const place = await open();
    await place.say("first");
    const ends = place.requests.map(({ messages }) => messages.length - 1);
    assert.deepEqual(
      place.requests.map(({ cacheMarks }) => cacheMarks),
      [[], ...ends.slice(0, -1).map((end) => [end])],
    );
  });

  it("gets it also if the model has another name than the requested one", async () => {
    const place = await open({ id: "other/name" });
    await place.say("first");
    assert.deepEqual(place.requests[1]?.cacheMarks, [(place.requests[0]?.messages.length ?? 0) - 1]);
  });

  it("is gone after its time", async () => {
    const place = await open();
    await place.say("first");
    place.bench.clock.advance(6 * minute);
    const [first, second] = await place.say("second");
    assert.deepEqual([first?.cache?.expected, first?.usage?.cached, first && missOf(first)], [0, 0, "idle"]);
    assert.ok((first?.cache?.miss?.idleMs ?? 0) >= 6 * minute);
    assert.ok((first?.cache?.miss?.tokens ?? 0) > 1000);
    assert.equal(second && missOf(second), undefined);
  });

  it("may be dropped earlier", async () => {
    const place = await open();
    await place.say("first");
    place.cache.forget();
    const [first] = await place.say("second");
    assert.ok((first?.cache?.expected ?? 0) > 1000);
    assert.deepEqual(first?.cache?.miss, { cause: "forgotten", tokens: first?.cache?.expected });
  });

  it("belongs to a model", async () => {
    const place = await open();
    await place.say("first");
    const settings = { models: ["other/model"], mode: "auto", attended: false } as const;
    const configure = async (models: readonly string[]): Promise<void> => {
      const log = unwrap(
        await place.bench.store.claim("s1", {
          owner: { host: "t", pid: 1, startedAt: 1 },
          at: 1,
          force: true,
        }),
      );
      const data = { settings: { ...settings, models }, limits: {} };
      unwrap(await log.append([{ type: "session.configured", data }], { at: 1, durable: false }));
      await place.bench.store.offer("s1", { type: "message", text: "go on" });
      unwrap(await drive(log, await place.session(), agentOf(place.ports)));
    };
    const stepsOf = (): readonly Step[] =>
      place.bench.events.flatMap((event) => (event.type === "step.completed" ? [event.data] : []));
    await configure(["other/model"]);
    const [away] = stepsOf().slice(4);
    assert.deepEqual([away?.model, away?.cache?.expected, away?.usage?.cached], ["other/model", 0, 0]);
    assert.equal(away && missOf(away), "switched");
    await configure(["scripted/model"]);
    const back = stepsOf()[8];
    // Its own beginning is still there; the other model's part is not.
    assert.ok((back?.cache?.expected ?? 0) > 900);
    assert.equal(back?.cache?.expected, back?.usage?.cached);
    assert.equal(back && missOf(back), "switched");
  });

  const changes: readonly (readonly [string, (request: ModelRequest) => ModelRequest])[] = [
    ["tools", (request) => ({ ...request, tools: [{ name: "new", description: "", parameters: {} }] })],
    ["system", (request) => ({ ...request, system: `Now: 12:01. ${request.system}` })],
    [
      "prefix",
      (request) => ({ ...request, messages: request.messages.toSpliced(3, 1, request.messages[1] as never) }),
    ],
  ];
  for (const [cause, change] of changes) {
    it(`is lost if the request begins differently: ${cause}`, async () => {
      const made: Changes = {};
      const place = await open(made);
      await place.say("first");
      made.request = change;
      const [first, second] = await place.say("second");
      assert.equal(first && missOf(first), cause);
      assert.equal(first?.cache?.miss?.message, cause === "prefix" ? 3 : undefined);
      assert.ok((first?.usage?.cached ?? 0) >= (first?.cache?.expected ?? 0));
      assert.equal(second && missOf(second), undefined);
    });
  }

  it("is lost after a rewind, also if the first attempt since then failed", () => {
    const prompt = {
      system: "s",
      tools: "t",
      messages: ["1", "2"],
      ends: [{ messages: 1, tokens: 1000, estimate: 1000 }],
      usedAt: 0,
      overhead: 0,
      estimate: 1100,
      broken: "rewound",
    } as const;
    const session = { ...emptySession, prompts: { m: prompt }, asked: { model: "m", tokens: 9000 } };
    const sent = { system: "s", tools: "t", kept: 2, added: [] };
    assert.deepEqual(expectCache(session, { model: "m", sent, rules, now: 1 }).why, { cause: "rewound" });
  });

  for (const cause of ["rewound", "compacted"] as const) {
    it(`is lost if the conversation was ${cause}`, async () => {
      const made: Changes = {};
      const place = await open(made);
      await place.say("first");
      made.request = (request) => ({ ...request, messages: request.messages.toSpliced(2, 4) });
      const ports = place.ports;
      const log = unwrap(
        await place.bench.store.claim("s1", {
          owner: { host: "t", pid: 1, startedAt: 1 },
          at: 1,
          force: true,
        }),
      );
      await place.bench.store.offer("s1", { type: "message", text: "second" });
      const session = await place.session();
      const broken = Object.entries(session.prompts).map(([id, one]) => [id, { ...one, broken: cause }]);
      unwrap(await drive(log, { ...session, prompts: Object.fromEntries(broken) }, agentOf(ports)));
      const steps = place.bench.events.flatMap((event) =>
        event.type === "step.completed" ? [event.data] : [],
      );
      assert.equal(steps[4] && missOf(steps[4]), cause);
      assert.equal(steps[5] && missOf(steps[5]), undefined);
    });
  }
});
