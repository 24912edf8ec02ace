/** Sessions assigned to an experiment: their settings, their log entries, and what they keep when resumed. */
import assert from "node:assert/strict";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { noRouterOptions } from "@lathe/orchestrator/router";
import { type Event, fold, isFailure } from "@lathe/protocol";
import type { Arm, Experiment } from "@lathe/telemetry/experiments";
import { assign, definitionOf } from "@lathe/telemetry/experiments";
import { startWireServer, type WireServer } from "@lathe/testkit";
import type { LocalOptions } from "../local-options.ts";
import { resumeSession, startSession } from "../local-sessions.ts";
import { readExperiment } from "../measure/read-experiment.ts";
import { readSession } from "../stored-sessions.ts";

const experiment = (name: string, arms: readonly Arm[]): Experiment => {
  return { name, arms, metric: "done", guardrails: ["cost"] };
};
const manner = "Speak like an old sailor.";
const short = experiment("short", [
  { name: "a", weight: 1, set: {} },
  { name: "b", weight: 1, set: { profile: { manner, maxOutput: 777 } } },
]);

describe("a session of an experiment", () => {
  let root = "";
  let server: WireServer;
  let options: LocalOptions;
  beforeEach(async () => {
    root = realpathSync(mkdtempSync(join(tmpdir(), "lathe-experiments-")));
    const task = { agent: "explore", prompt: "look around" };
    const call = { type: "tool-call", id: "c1", tool: "task", input: JSON.stringify(task) } as const;
    let answers = 0;
    server = await startWireServer(() =>
      ++answers === 1 && asksHelp ? { parts: [call] } : { parts: [{ type: "text", text: "done" }] },
    );
    const env = { HOME: root, XDG_STATE_HOME: join(root, "state"), XDG_CACHE_HOME: join(root, "cache") };
    options = {
      cwd: root,
      env: { ...env, PATH: process.env.PATH },
      version: "test",
      models: ["acme/one"],
      router: noRouterOptions,
      catalogue: {},
      providers: { acme: { baseUrl: `${server.url}/v1`, apiKey: "k", wire: "chat" } },
      mode: "auto",
      attended: false,
      limits: {},
      rules: [],
      checkpoints: false,
      sandbox: "off",
      sandboxLimits: { wanted: {}, most: {} },
      onEvent: () => undefined,
      onDelta: () => undefined,
      experiments: [short],
    };
  });
  let asksHelp = false;
  afterEach(async () => {
    asksHelp = false;
    await server.close();
    rmSync(root, { recursive: true });
  });

  /** An ID that is assigned to the arm. */
  const idFor = (arm: string): string => {
    for (let i = 0; ; i++) if (assign([short], `session-${i}`)[0]?.arm === arm) return `session-${i}`;
  };
  const run = async (id: string, more: Partial<LocalOptions> = {}): Promise<readonly Event[]> => {
    const session = await startSession({ ...options, ...more }, { text: "go" }, id);
    assert.ok(!isFailure(session));
    await session.run();
    await session.close();
    return eventsOf(id);
  };
  const eventsOf = async (id: string): Promise<readonly Event[]> => {
    const events = await readSession(options.env, id);
    assert.ok(!isFailure(events));
    return events;
  };
  const exposed = (events: readonly Event[]) =>
    events.flatMap((event) => (event.type === "experiment.exposed" ? [event.data] : []));
  const bodies = () => server.records.map(({ body }) => JSON.stringify(body));

  it("uses its arm's settings, and logs that once, right before its first attempt", async () => {
    const events = await run(idFor("b"));
    assert.match(bodies()[0] ?? "", /old sailor/);
    assert.match(bodies()[0] ?? "", /"max_(?:completion_)?tokens":777/);
    const types = events.map(({ type }) => type);
    assert.equal(types[types.indexOf("step.started") - 1], "experiment.exposed");
    const shares = { a: 0.5, b: 0.5 };
    const told = { experiment: "short", arm: "b", shares, moment: "attempt" };
    assert.deepEqual(exposed(events), [{ ...told, definition: definitionOf(short.arms) }]);
  });

  it("does not include a trial of an evaluation", async () => {
    const env = { ...options.env, LATHE_EVAL_ENV: "{}" };
    const [arm] = short.arms;
    const events = await run(idFor(arm?.name ?? ""), { env });
    assert.deepEqual(exposed(events), []);
    assert.equal(fold(events).settings.experiments, undefined);
  });

  it("is exposed even if its arm sets nothing, and works as usual", async () => {
    const events = await run(idFor("a"));
    assert.doesNotMatch(bodies()[0] ?? "", /old sailor/);
    assert.deepEqual(
      exposed(events).map(({ arm }) => arm),
      ["a"],
    );
  });

  it("keeps its arm when resumed, and loses it when the experiment ends", async () => {
    const id = idFor("b");
    await run(id);
    const goOn = async (more: Partial<LocalOptions>): Promise<string> => {
      const session = await resumeSession({ ...options, ...more, models: [] }, id, {});
      assert.ok(!isFailure(session));
      await session.run({ text: "more" });
      await session.close();
      return bodies().at(-1) ?? "";
    };
    assert.match(await goOn({}), /:777/);
    assert.equal(exposed(await eventsOf(id)).length, 1);
    assert.doesNotMatch(await goOn({ experiments: [] }), /:777/);
    assert.equal(fold(await eventsOf(id)).settings.experiments, undefined);
  });

  it("passes its settings on to its subagents", async () => {
    asksHelp = true;
    const events = await run(idFor("b"));
    const [child] = fold(events).children;
    assert.ok(child);
    assert.equal(fold(await eventsOf(child)).settings.experiments?.[0]?.arm, "b");
    assert.equal(server.records.length, 3);
    assert.ok(bodies().every((body) => /:777/.test(body)));
  });

  it("may vary how much the model thinks, overriding the user's file", async () => {
    const thinks = experiment("thinks", [
      { name: "a", weight: 1, set: { effort: "low" } },
      { name: "b", weight: 1, set: { effort: "high" } },
    ]);
    const id = "session-t";
    const [drawn] = assign([thinks], id);
    await run(id, { experiments: [thinks], effort: "max" });
    assert.equal(JSON.parse(bodies()[0] ?? "").reasoning_effort, drawn?.set.effort);
    const session = await resumeSession({ ...options, experiments: [thinks], models: [] }, id, {});
    assert.ok(!isFailure(session));
    await session.run({ text: "on" });
    await session.close();
    assert.equal(JSON.parse(bodies()[1] ?? "").reasoning_effort, drawn?.set.effort);
  });

  it("that only sets summaries is not exposed before the first one", async () => {
    const sums = experiment("sums", [
      { name: "a", weight: 1, set: {} },
      { name: "b", weight: 1, set: { summaryModel: "acme/small" } },
    ]);
    const events = await run("session-x", { experiments: [sums] });
    assert.deepEqual(exposed(events), []);
    const catalogue = { "acme/one": { window: 20_000 } };
    const more = { catalogue, experiments: [sums], models: [] };
    const session = await resumeSession({ ...options, ...more }, "session-x", {});
    assert.ok(!isFailure(session));
    await session.run({ text: `more ${"and more ".repeat(600)}` });
    await session.run({ text: `again ${"and again ".repeat(600)}` });
    await session.compact("the parser");
    await session.run();
    await session.close();
    const after = await eventsOf("session-x");
    const types = after.map(({ type }) => type);
    assert.equal(exposed(after).length, 1);
    const at = types.indexOf("experiment.exposed");
    const started = after[at + 1];
    assert.ok(started?.type === "step.started" && started.data.purpose === "summary");
  });

  it("appears in the report once its first 24 hours are over", async () => {
    await run(idFor("b"));
    await run(idFor("a"));
    const now = Date.now();
    const early = await readExperiment(options.env, short, now);
    assert.deepEqual([early.sessions, early.pending], [0, 2]);
    const later = await readExperiment(options.env, short, now + 86_400_000);
    assert.deepEqual([later.sessions, later.pending], [2, 0]);
    assert.deepEqual(
      later.metric.arms.map(({ arm, sessions, mean }) => [arm, sessions, mean]),
      [
        ["a", 1, 1],
        ["b", 1, 1],
      ],
    );
    assert.equal(later.metric.differences[0]?.verdict, "not enough data");
    assert.equal(later.guardrails[0]?.metric, "cost");
  });
});
