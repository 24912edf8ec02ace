/** The best of several attempts, from the task to the changed folder, in memory. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Failure, failure, fold, isFailure, type Session } from "@lathe/protocol";
import { succeeded } from "@lathe/testkit";
import { type BestOf, runBestOf } from "./best-of.ts";
import {
  cwd,
  type MemoryAttempts,
  type MemoryOptions,
  memoryAttempts,
  type Script,
} from "./memory-attempts.test.ts";
import { type BestOfWish, type OpenedBestOf, openBestOf, reopenBestOf } from "./open-best-of.ts";
import type { AttemptRow, Running } from "./running.ts";

const usual: BestOfWish = { count: 3, models: [], seed: 1, apply: true, keepAll: false };

async function open(memory: MemoryAttempts, wish: Partial<BestOfWish> = {}): Promise<OpenedBestOf> {
  const words = { text: "do it" };
  return succeeded(await openBestOf(memory.host, memory.options, { words, wish: { ...usual, ...wish } }));
}

interface Watched {
  readonly ended: BestOf | Failure;
  readonly rows: readonly AttemptRow[];
  readonly remarks: readonly string[];
}

async function run(
  memory: MemoryAttempts,
  opened: OpenedBestOf,
  more: Partial<Running> = {},
): Promise<Watched> {
  const [rows, remarks] = [[] as AttemptRow[], [] as string[]];
  const ended = await runBestOf({
    host: memory.host,
    ...opened,
    parallel: 2,
    testMs: 1_000,
    worker: (model) => ["worker", ...(model === undefined ? [] : [model])],
    observer: { onAttempt: (_, row) => rows.push(row), onRemark: (text) => remarks.push(text) },
    signal: new AbortController().signal,
    ...more,
  });
  return { ended, rows, remarks };
}

async function best(options: MemoryOptions, wish: Partial<BestOfWish> = {}) {
  const memory = memoryAttempts(options);
  const opened = await open(memory, wish);
  const watched = await run(memory, opened);
  const ended = succeeded(watched.ended);
  await opened.log.close();
  return { memory, opened, ...watched, ended };
}

async function sessionOf({ host }: MemoryAttempts, id: string): Promise<Session> {
  return fold(succeeded(await host.sessions.stores.store.read(id)));
}

const isRight = (files: ReadonlyMap<string, string>): boolean => files.get("a")?.startsWith("right") === true;

const scripts = [
  { files: { a: "wrong\n" } },
  { files: { a: "right\n" }, says: "I put it right.", cost: 0.5 },
  { files: { a: "right\nand more\n", b: "new\n" } },
];

describe("the best of several attempts", () => {
  it("is the smallest change whose tests pass; it is applied, and the others are discarded", async () => {
    const { memory, opened, ended, rows } = await best({ scripts, tests: isRight });
    assert.deepEqual([ended.verdict.winner, ended.verdict.by, ended.answer], [1, "tests", "I put it right."]);
    assert.deepEqual(ended.taken?.paths, ["a"]);
    assert.deepEqual([...memory.folder], [["a", "right\n"]]);
    assert.equal(memory.copies.size, 0);
    assert.equal(memory.most(), 2);
    assert.deepEqual(new Set(rows.map(({ state }) => state)), new Set(["working", "testing", "ended"]));
    const passed = ended.verdict.results.map(({ tests }) => tests?.passed);
    assert.deepEqual(passed, [false, true, true]);
    assert.equal(ended.verdict.results[1]?.cost, 0.5);
    const session = await sessionOf(memory, opened.log.id);
    assert.deepEqual([session.attempts?.settled, session.lastEnd?.type], [{ taken: 1 }, "done"]);
    assert.equal(session.checkpoints.length, 2);
  });

  it("does not exist if no attempt passes the unchanged tests, and the folder stays as it was", async () => {
    const { memory, ended } = await best({ scripts: [{}, {}, {}].map(() => ({ dies: true as const })) });
    assert.equal(ended.verdict.winner, undefined);
    assert.deepEqual([...memory.folder], [["a", "1\n"]]);
  });

  it("waits for a person where it changed the tests, unless they pass as they were", async () => {
    const folder = { a: "1\n", "test/t.js": "real" };
    const cheats = [{ files: { "test/t.js": "nothing" } }, {}];
    const tests = (files: ReadonlyMap<string, string>): boolean =>
      files.get("test/t.js") === "nothing" || files.get("a") === "right\n";
    const cheat = await best({ folder, scripts: cheats, tests }, { count: 2 });
    assert.deepEqual([cheat.ended.verdict.winner, cheat.ended.isDoubtful], [0, true]);
    assert.deepEqual([...cheat.memory.folder], Object.entries(folder));
    const honest = { files: { "test/t.js": "nothing", a: "right\n" } };
    const fair = await best({ folder, scripts: [honest, {}], tests }, { count: 2 });
    assert.equal(fair.ended.verdict.results[0]?.originalTests?.passed, true);
    assert.equal(fair.memory.folder.get("a"), "right\n");
  });

  it("is chosen by a model that sees no names, or by the tests if its answer is unusable", async () => {
    const judged = await best({ scripts, judge: '{"best": 1, "why": "it is clear"}' }, { judge: "model" });
    const [order] = judged.memory.orders.filter((one) => one.type === "attempt" && one.isJudge);
    assert.ok(order?.type === "attempt");
    assert.doesNotMatch(order.words.text, /attempt|worker|m\/one/i);
    assert.deepEqual([judged.ended.verdict.by, judged.ended.verdict.why], ["model", "it is clear"]);
    const mute = await best({ scripts, tests: isRight, judge: "the second" }, { judge: "model" });
    assert.deepEqual([mute.ended.verdict.by, mute.ended.verdict.winner], ["tests", 1]);
  });

  it("is not one whose process died; the remark names it, and the others count", async () => {
    const dying = [{ files: { a: "right\n" }, dies: true as const }, { files: { a: "right\n" } }];
    const { ended, remarks } = await best({ scripts: dying, tests: isRight }, { count: 2 });
    assert.deepEqual(
      ended.verdict.results.map(({ end }) => end),
      ["open", "done"],
    );
    assert.equal(ended.verdict.winner, 1);
    assert.ok(remarks.some((text) => text.startsWith("attempt 1: ")));
  });

  it("waits for the person who decides, and does as the person says", async () => {
    for (const [decided, left, a] of [
      ["take", 0, "right\n"],
      ["keep", 3, "1\n"],
      ["drop", 0, "1\n"],
    ] as const) {
      const memory = memoryAttempts({ scripts, tests: isRight });
      const opened = await open(memory, { apply: false });
      const { ended } = await run(memory, opened, { decide: async () => decided });
      assert.ok(!isFailure(ended));
      assert.deepEqual([memory.copies.size, memory.folder.get("a")], [left, a]);
    }
  });

  it("keeps all copies on request", async () => {
    const { memory } = await best({ scripts, tests: isRight }, { keepAll: true });
    assert.deepEqual([...memory.copies.keys()], ["fork-1", "fork-3"]);
  });

  it("is not applied over a change of the folder, and is once that is settled", async () => {
    const memory = memoryAttempts({ scripts, tests: isRight });
    const opened = await open(memory);
    memory.folder.set("a", "2\n");
    const { ended } = await run(memory, opened);
    assert.ok(!isFailure(ended));
    assert.equal(ended.refused?.code, "stale-version");
    assert.equal((await sessionOf(memory, opened.log.id)).attempts?.taking, undefined);
    await opened.log.close();
    memory.folder.set("a", "1\n");
    const again = succeeded(
      (await reopenBestOf(memory.host, memory.options, opened.log.id)) ?? assert.fail(),
    );
    const orders = memory.orders.length;
    assert.ok(!isFailure((await run(memory, again)).ended));
    assert.deepEqual([memory.folder.get("a"), memory.orders.length], ["right\n", orders]);
  });

  it("can be interrupted, and continues with what was not finished", async () => {
    const stop = new AbortController();
    const waiting: Script[] = [{ files: { a: "right\n" } }, { waits: true }];
    const memory = memoryAttempts({ scripts: waiting, tests: isRight });
    const opened = await open(memory, { count: 2 });
    const observer = {
      onAttempt: (at: number) => at === 1 && stop.abort(),
      onRemark: () => undefined,
    };
    const { ended } = await run(memory, opened, { signal: stop.signal, observer });
    assert.ok(isFailure(ended) && ended.code === "cancelled");
    assert.equal(memory.copies.size, 2);
    await opened.log.close();
    const again = succeeded(
      (await reopenBestOf(memory.host, memory.options, opened.log.id)) ?? assert.fail(),
    );
    waiting[1] = { files: { a: "right\nand more\n" } };
    const { ended: second } = await run(memory, again);
    assert.ok(!isFailure(second), isFailure(second) ? second.text : "");
    assert.deepEqual(
      second.verdict.results.map(({ end }) => end),
      ["done", "done"],
    );
    await again.log.close();
    assert.equal(await reopenBestOf(memory.host, memory.options, opened.log.id), undefined);
  });

  it("gives each attempt its model in turn, and refuses models that cannot be used", async () => {
    const memory = memoryAttempts({ scripts });
    const opened = await open(memory, { models: ["m/a", "m/b"] });
    assert.deepEqual(
      opened.log.attempts.attempts.map(({ model }) => model),
      ["m/a", "m/b", "m/a"],
    );
    const refused = await openBestOf(memory.host, memory.options, {
      words: { text: "do it" },
      wish: { ...usual, models: ["m/a", "no/model"] },
    });
    assert.ok(isFailure(refused) && refused.code === "model-unknown");
  });

  it("holds all attempts to one budget", async () => {
    const memory = memoryAttempts({ scripts });
    const options = { ...memory.options, limits: { cost: 2, tokens: 100 } };
    const opened = succeeded(
      await openBestOf(memory.host, options, { words: { text: "do it" }, wish: usual }),
    );
    const ledger = memory.host.sessions.stores.ledgers.open(opened.log.id);
    const state = succeeded(await ledger.read());
    ledger.close();
    assert.deepEqual(state.cap, { cost: 2, tokens: 100 });
  });
});

describe("tests that may not run", () => {
  it("are skipped with a remark, and judge nothing", async () => {
    const options = { scripts, tests: isRight, refusal: "a rule denies make" };
    const { memory, ended } = await best(options);
    assert.deepEqual(memory.remarks, ["a rule denies make"]);
    assert.ok(memory.orders.every(({ type }) => type === "attempt"));
    assert.ok(ended.verdict.results.every(({ tests }) => tests === undefined));
    const refused = await openBestOf(memory.host, memory.options, {
      words: { text: "do it" },
      wish: { ...usual, judge: "tests" },
    });
    assert.ok(isFailure(refused) && refused.code === "invalid-arguments");
    const unknown = memoryAttempts({ scripts });
    const none = await openBestOf(unknown.host, unknown.options, {
      words: { text: "do it" },
      wish: { ...usual, judge: "tests" },
    });
    assert.ok(isFailure(none) && none.code === "invalid-arguments");
    assert.equal(unknown.copies.size, 0);
  });

  it("are judged once more when the session continues", async () => {
    const memory = memoryAttempts({ scripts, tests: isRight });
    const opened = await open(memory);
    await opened.log.close();
    const strict = { ...memory.host, tests: { ...memory.host.tests, refusal: async () => "denied" } };
    const again = succeeded((await reopenBestOf(strict, memory.options, opened.log.id)) ?? assert.fail());
    assert.deepEqual(
      [opened.log.attempts.testCommand, again.log.attempts.testCommand],
      ["make test", undefined],
    );
    assert.equal(again.log.cwd, cwd);
  });
});

describe("the places of attempts", () => {
  const no = failure("sandbox-unavailable", "no launcher", { who: "host" });
  const types = ({ log }: OpenedBestOf): readonly string[] =>
    log.attempts.attempts.map(({ place }) => place.type);

  it("are forks; working trees where forks cannot be made or entered, with a remark why", async () => {
    assert.deepEqual(types(await open(memoryAttempts())), ["fork", "fork", "fork"]);
    for (const without of [{ forks: no }, { check: no }]) {
      const memory = memoryAttempts({ without });
      assert.deepEqual(types(await open(memory)), ["worktree", "worktree", "worktree"]);
      assert.deepEqual([...memory.copies.keys()], ["worktree-1", "worktree-2", "worktree-3"]);
      assert.equal(memory.remarks.length, 2);
      assert.ok(memory.remarks.some((text) => text.includes("no launcher")));
    }
  });

  it("are working trees on request, or if uncommitted changes are left out", async () => {
    assert.equal(types(await open(memoryAttempts(), { worktrees: true }))[0], "worktree");
    assert.equal(types(await open(memoryAttempts(), { dirty: "leave" }))[0], "worktree");
    const inside = memoryAttempts({ isInFork: true });
    assert.equal(types(await open(inside, { worktrees: true }))[0], "fork");
  });

  it("are removed if neither kind can be made", async () => {
    const words = { text: "do it" };
    for (const [options, wish, code] of [
      [{ without: { forks: no, trees: no } }, {}, "sandbox-unavailable"],
      [{ without: { forks: no }, isInFork: true }, {}, "sandbox-unavailable"],
      [{}, { dirty: "refuse" }, "invalid-arguments"],
    ] as const) {
      const memory = memoryAttempts(options);
      const found = await openBestOf(memory.host, memory.options, { words, wish: { ...usual, ...wish } });
      assert.ok(isFailure(found) && found.code === code, JSON.stringify(found));
      assert.equal(memory.copies.size, 0);
    }
  });
});
