/** Operations on whole sessions: naming, searching, forking, following, and resuming the right one. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { beginAttemptsLog, reopenBestOf } from "@lathe/attempts";
import { noRouterOptions } from "@lathe/orchestrator/router";
import { type Event, fold, isFailure, messageText, type Session } from "@lathe/protocol";
import type { ExplicitOptions, OpenSession } from "@lathe/sessions";
import { startWireServer, type WireServer } from "@lathe/testkit";
import { localAttempts } from "../attempts/local-attempts.ts";
import type { LocalOptions } from "../local-options.ts";
import { resumeSession, startSession } from "../local-sessions.ts";
import {
  followSession,
  forkSession,
  listSessions,
  nameSession,
  newestFree,
  readSession,
  rewindSession,
} from "../stored-sessions.ts";
import { openWorkbench } from "../workbench/workbench.ts";
import { readPrompts, rememberPrompt } from "./prompt-history.ts";

describe("sessions", () => {
  let root = "";
  let server: WireServer;
  let options: LocalOptions;
  const opened: OpenSession[] = [];

  beforeEach(async () => {
    root = realpathSync(mkdtempSync(join(tmpdir(), "lathe-sessions-")));
    let answers = 0;
    server = await startWireServer(() => ({ parts: [{ type: "text", text: `answer ${++answers}` }] }));
    const env = { HOME: root, XDG_STATE_HOME: join(root, "state"), PATH: process.env.PATH };
    options = {
      cwd: root,
      env,
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
    };
  });
  afterEach(async () => {
    for (const session of opened.splice(0)) await session.close();
    await server.close();
    rmSync(root, { recursive: true });
  });

  const begun = async (...texts: readonly string[]): Promise<OpenSession> => {
    const session = await startSession(options, { text: texts[0] ?? "" });
    assert.ok(!isFailure(session));
    opened.push(session);
    await session.run();
    for (const text of texts.slice(1)) await session.run({ text });
    return session;
  };
  const eventsOf = async (id: string): Promise<readonly Event[]> => {
    const events = await readSession(options.env, id);
    assert.ok(!isFailure(events));
    return events;
  };
  const said = (events: readonly Event[]): readonly string[] =>
    fold(events).messages.map(({ parts }) => messageText(parts));
  const titles = async (search?: string): Promise<readonly string[]> =>
    (await listSessions(options.env, search === undefined ? {} : { search })).map(({ title }) => title);

  it("are named, even while they run, and found by their names", async () => {
    const [first, second] = [await begun("mend the parser"), await begun("write the docs")];
    await first.close();
    assert.equal(await nameSession(options.env, first.id, "  Parser,\n second try "), undefined);
    assert.equal(await nameSession(options.env, second.id, "Handbook"), undefined);
    await second.run();
    assert.deepEqual([...(await titles())].sort(), ["Handbook", "Parser, second try"]);
    assert.deepEqual(await titles("TRY parser"), ["Parser, second try"]);
    assert.deepEqual(await titles("nothing like it"), []);
    await second.run({ text: "and more" });
    assert.deepEqual(await titles("handbook"), ["Handbook"], "the name outlives what is written after it");
    assert.equal(fold(await eventsOf(first.id)).title, "Parser, second try");
    for (const name of ["", " \n ", "x".repeat(121)]) {
      assert.ok(isFailure(await nameSession(options.env, first.id, name)));
    }
    const unknown = await nameSession(options.env, "nobody-000000", "x");
    assert.equal(isFailure(unknown) && unknown.code, "session-unknown");
  });

  it("resume with their mode, caps and planner, unless set explicitly", async () => {
    const more = { planner: "acme/two", limits: { cost: 2, steps: 5 } } as const;
    const session = await startSession({ ...options, ...more, mode: "plan" }, { text: "look around" });
    assert.ok(!isFailure(session));
    await session.run();
    await session.close();
    const goneOn = async (now: Partial<LocalOptions>, said: ExplicitOptions): Promise<unknown> => {
      const again = await resumeSession({ ...options, ...now }, session.id, said);
      assert.ok(!isFailure(again));
      assert.match(again.remarks.join(), said.mode || now.mode ? /^$/ : /mode, plan; .*-mode auto/);
      const { settings, limits } = (await again.run({ text: "go on" })) as Session;
      await again.close();
      return [again.mode(), settings.mode, settings.planner, limits];
    };
    const stays = ["plan", "plan", "acme/two"];
    assert.deepEqual(await goneOn({ limits: { steps: 200 } }, {}), [...stays, { cost: 2, steps: 5 }]);
    const lower = await goneOn({ limits: { steps: 3, tokens: 1e6 } }, {});
    assert.deepEqual(lower, [...stays, { cost: 2, steps: 3, tokens: 1e6 }]);
    const raised = { cost: 4, steps: 9 };
    const other = await goneOn({ limits: raised, planner: "acme/three" }, { mode: "auto", limits: raised });
    assert.deepEqual(other, ["auto", "auto", "acme/three", { ...raised, tokens: 1e6 }]);
    assert.deepEqual(await goneOn({ mode: "read-only" }, {}), [
      "read-only",
      "read-only",
      "acme/three",
      { ...raised, tokens: 1e6 },
    ]);
  });

  it("resume in another folder only if that is explicit, or their own is gone", async () => {
    const own = join(root, "own");
    mkdirSync(own);
    const session = await startSession({ ...options, cwd: own }, { text: "look around" });
    assert.ok(!isFailure(session));
    await session.run();
    await session.close();
    const refused = await resumeSession(options, session.id, {});
    assert.match(isFailure(refused) ? refused.text : "", /works in .*\/own: resume it there/);
    const moved = await resumeSession(options, session.id, { folder: true });
    assert.ok(!isFailure(moved));
    await moved.close();
    rmSync(own, { recursive: true });
    const left = await resumeSession(options, session.id, {});
    assert.ok(!isFailure(left));
    await left.close();
  });

  it("are forked up to a step, with an account of their own; the original does not change", async () => {
    const session = await begun("one", "two", "three");
    const before = JSON.stringify(await eventsOf(session.id));
    const whole = await forkSession(options.env, session.id, { version: "test" });
    const part = await forkSession(options.env, session.id, { version: "test", to: 2 });
    assert.ok(!isFailure(whole) && !isFailure(part));
    assert.equal(JSON.stringify(await eventsOf(session.id)), before);
    assert.deepEqual(said(await eventsOf(whole)), said(await eventsOf(session.id)));
    assert.deepEqual(said(await eventsOf(part)), ["one", "answer 1"]);
    assert.equal(fold(await eventsOf(whole)).account.cost, 0);
    const fork = await resumeSession({ ...options, models: [] }, part, {});
    assert.ok(!isFailure(fork));
    opened.push(fork);
    await fork.run({ text: "instead" });
    assert.deepEqual(said(await eventsOf(part)), ["one", "answer 1", "instead", "answer 4"]);
    const wrong = await forkSession(options.env, session.id, { version: "test", to: 9 });
    assert.match(isFailure(wrong) ? wrong.text : "", /there is no step 9 .*1 to 3/);
  });

  it("are forked after a rewind with the rewound conversation", async () => {
    const session = await begun("one", "two");
    await session.close();
    const rewound = await rewindSession(options.env, session.id, {
      to: 2,
      files: false,
      conversation: true,
      force: false,
    });
    assert.ok(!isFailure(rewound));
    const again = await resumeSession(options, session.id, {});
    assert.ok(!isFailure(again));
    opened.push(again);
    await again.run({ text: "other" });
    const fork = await forkSession(options.env, session.id, { version: "test" });
    assert.ok(!isFailure(fork));
    assert.deepEqual(said(await eventsOf(fork)), said(await eventsOf(session.id)));
    assert.ok(!said(await eventsOf(fork)).includes("two"));
  });

  it("are forked without the original's attempts, but with the step those took", async () => {
    const attempts = [{ session: "a1", place: { type: "worktree", id: "w1" } }] as const;
    const begin = { id: "tried", words: { text: "one" }, attempts, seed: 1, apply: true, keepAll: false };
    const log = await beginAttemptsLog(localAttempts(options, ["lathe"]), options, begin);
    assert.ok(!isFailure(log));
    const forked = async (): Promise<string> => {
      const id = await forkSession(options.env, "tried", { version: "test" });
      assert.ok(!isFailure(id));
      return id;
    };
    await log.judged({ results: [], winner: 0, by: "tests", why: "it passes" });
    await log.taking(0);
    const early = await forked();
    await log.settled(0, "The first one was taken over.");
    const late = await forked();
    await log.close();
    for (const id of [early, late]) {
      assert.equal(await reopenBestOf(localAttempts(options, ["lathe"]), options, id), undefined);
      const { attempts: tried, children } = fold(await eventsOf(id));
      assert.deepEqual([tried, children], [undefined, []]);
    }
    assert.equal(fold(await eventsOf(late)).step, fold(await eventsOf("tried")).step);
    const fork = await resumeSession(options, early, {});
    assert.ok(!isFailure(fork));
    opened.push(fork);
    await fork.run({ text: "on your own" });
    assert.equal(said(await eventsOf(early)).at(-1), "answer 1");
    // The original ran only attempts, so it had no mode of its own.
    assert.equal(fork.session().settings.mode, "auto");
  });

  it("are followed live without being owned, and resumed only if no process runs them", async () => {
    const session = await begun("one");
    const heard: string[] = [];
    const owners: boolean[] = [];
    const stop = new AbortController();
    const following = followSession(options.env, session.id, {
      signal: stop.signal,
      onEvent: ({ type }, { turn }) => {
        heard.push(type);
        if (heard.filter((one) => one === "turn.ended").length === 2 && !turn) stop.abort();
      },
      onOwner: (isRunning) => owners.push(isRunning),
    });
    await session.run({ text: "two" });
    assert.equal(await following, undefined);
    assert.deepEqual(
      heard,
      (await eventsOf(session.id)).map(({ type }) => type),
    );
    assert.deepEqual(owners[0], true);
    assert.equal(await newestFree(options.env, root), undefined);
    const other = await begun("another");
    await session.close();
    assert.equal(await newestFree(options.env, root), session.id, "the newer one is at work");
    await other.close();
    assert.equal(await newestFree(options.env, root), other.id);
    assert.equal(await newestFree(options.env, join(root, "elsewhere")), undefined);
    const unknown = await followSession(options.env, "nobody-000000", {
      signal: stop.signal,
      onEvent: () => undefined,
      onOwner: () => undefined,
    });
    assert.equal(unknown?.code, "session-unknown");
  });

  it("get messages while they work, switch modes, and run commands that a person types", async () => {
    const session = await begun("one");
    assert.equal(session.session().settings.mode, "auto");
    session.setMode("plan");
    await session.say({ text: "two" });
    assert.ok(await session.hasWork());
    await session.run();
    assert.equal(session.session().settings.mode, "plan");
    assert.ok(said(await eventsOf(session.id)).includes("two"));
    const { signal } = new AbortController();
    const outcome = await session.command("echo typed > made.txt; cat made.txt", signal);
    assert.match(
      outcome.type === "ok" ? outcome.text : "",
      /typed/,
      "plan mode binds the model, not the person",
    );
    assert.equal(readFileSync(join(root, "made.txt"), "utf8"), "typed\n");
    assert.ok(session.windowOf("acme/one") > 0);
  });

  it("a typed command is refused if a rule denies it, and ends with its signal", async () => {
    const deny = { name: "no-curl", verdict: "deny", kinds: ["execute"], target: "curl *" } as const;
    const bench = openWorkbench({ ...options, rules: [deny] }, new AbortController().signal);
    assert.ok(!isFailure(bench));
    const { signal } = new AbortController();
    const denied = await bench.command("curl http://127.0.0.1:1", signal);
    assert.deepEqual([denied.type, denied.type === "refused" && denied.rule], ["refused", "no-curl"]);
    const stop = new AbortController();
    const stopped = bench.command("echo on; sleep 60", stop.signal);
    stop.abort();
    assert.equal((await stopped).type, "interrupted");
    await bench.close();
  });

  it("prompts are remembered per project, the latest ones, despite broken lines", () => {
    const { env } = options;
    assert.deepEqual(readPrompts(env, root), []);
    for (const text of ["one", "two\nlines", "two\nlines", " ", "x".repeat(30_000)])
      rememberPrompt(env, root, text);
    assert.deepEqual(readPrompts(env, root), ["one", "two\nlines"]);
    assert.deepEqual(readPrompts(env, "/elsewhere"), []);
    for (let at = 0; at < 520; at++) rememberPrompt(env, root, `prompt ${at}`);
    const kept = readPrompts(env, root);
    assert.ok(kept.length <= 500 && kept.at(-1) === "prompt 519");
  });
});
