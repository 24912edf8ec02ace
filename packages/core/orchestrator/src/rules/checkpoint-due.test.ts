/** When checkpoints are taken: once before each step that may change files, and once after it. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { failure, fold, isFailure } from "@lathe/protocol";
import { createHandMovedClock } from "@lathe/testkit";
import {
  agentOf,
  allow,
  answerTo,
  type Bench,
  type BenchOptions,
  begin,
  openBench,
  reclaim,
  run,
  say,
  until,
  unwrap,
} from "../bench.test.ts";
import { drive } from "../drive.ts";

const ask = { verdict: "ask", rule: "careful", why: "no sandbox" } as const;

const put = (path: string): object => ({ tool: "put", input: { path, text: "x" } });
const get = (path: string): object => ({ tool: "get", input: { path } });

function bench(script: readonly (readonly object[])[], options: Partial<BenchOptions> = {}): Bench {
  const answers = [...script.map((calls) => ({ calls })), { text: "done" }];
  return openBench({
    script: answers as BenchOptions["script"],
    settings: { checkpoints: true },
    ...options,
  });
}

function callOf({ events }: Bench): string {
  const asked = events.find((event) => event.type === "question.asked");
  return asked?.type === "question.asked" ? asked.data.call : "";
}

describe("a checkpoint", () => {
  it("is taken before the first call of a step that may change files, and after its last", async () => {
    const one = bench([[get("a"), put("a"), put("b")], [get("a")], [say("hi")]]);
    const session = await run(one);
    assert.deepEqual(one.done, [
      "get a",
      "checkpoint",
      "put a",
      "put b",
      "checkpoint",
      "get a",
      "checkpoint",
      "say hi",
      "checkpoint",
    ]);
    assert.deepEqual(
      session.checkpoints.map(({ moment, ref }) => [moment, ref]),
      [
        ["before", "ref 2"],
        ["after", "ref 5"],
        ["before", "ref 7"],
        ["after", "ref 9"],
      ],
    );
    assert.equal(session.lastEnd?.type, "done");
  });

  it("reports which files of the turn so far run later, without deleted ones", async () => {
    const asked: string[] = [];
    const found = [
      {
        files: [
          { path: "a", why: "one" },
          { path: "b", why: "two" },
        ],
        gone: [],
      },
      { files: [{ path: "c", why: "three" }], gone: ["a"] },
    ];
    const one = bench([[put("a")], [put("c")]], {
      runLater: async (from, to) => {
        asked.push(`${from} > ${to}`);
        return found[asked.length - 1] ?? { files: [], gone: [] };
      },
    });
    const session = await run(one);
    assert.equal(asked.length, 2);
    const told = one.events.flatMap((event) =>
      event.type === "checkpoint.taken" && event.data.moment === "after"
        ? [event.data.runLater?.map(({ path }) => path)]
        : [],
    );
    assert.deepEqual(told, [
      ["a", "b"],
      ["b", "c"],
    ]);
    assert.equal(session.turn, undefined);
  });

  it("is in the log before the call starts", async () => {
    const one = bench([[put("a")]]);
    await run(one);
    const types = one.events.map(({ type }) => type);
    assert.ok(types.indexOf("checkpoint.taken") < types.indexOf("tool.started"));
    assert.ok(types.indexOf("checkpoint.taken") > types.indexOf("permission.decided"));
  });

  it("is not taken for a session that only reads, nor if checkpoints are off", async () => {
    const reading = bench([[get("a")]]);
    await run(reading);
    assert.deepEqual(reading.done, ["get a"]);
    const off = bench([[put("a")]], { settings: {} });
    await run(off);
    assert.deepEqual(off.done, ["put a"]);
  });

  it("does not block anything if it fails, and is retried only if it may succeed", async () => {
    for (const [retry, asked] of [
      ["same", 4],
      ["never", 1],
    ] as const) {
      const one = bench([[put("a")], [put("b")]], {
        checkpoint: () => failure("too-large", "too many files", { retry }),
      });
      const session = await run(one);
      assert.equal(one.done.filter((what) => what === "checkpoint").length, asked);
      assert.equal(session.lastEnd?.type, "done");
      assert.equal(session.checkpoints.length, asked);
      assert.ok(session.checkpoints.every(({ ref, failure: why }) => !ref && why?.text === "too many files"));
    }
  });

  it("is taken before waiting for a person, and again after the answer", async () => {
    const one = bench([[put("a")], [say("rm")]], {
      settings: { checkpoints: true, attended: true },
      decide: ([effect]) => (effect?.kind === "execute" ? ask : allow),
    });
    const session = run(one);
    await until(() => one.events.some(({ type }) => type === "question.asked"));
    await until(() => one.done.length === 3);
    await answerTo(one, callOf(one), "allow");
    assert.deepEqual(
      (await session).checkpoints.map(({ moment }) => moment),
      ["before", "after", "before", "after"],
    );
    assert.deepEqual(one.done, ["checkpoint", "put a", "checkpoint", "checkpoint", "say rm", "checkpoint"]);
  });

  it("can be cancelled while it waits, and shows its status after a moment", async () => {
    const clock = createHandMovedClock();
    let hanging = 0;
    const one = bench([[put("a")]], {
      clock,
      checkpoint: (signal) =>
        new Promise((resolve) => {
          hanging++;
          signal.addEventListener("abort", () => resolve(failure("cancelled", "stopped")));
        }),
    });
    const session = run(one);
    await until(() => hanging === 1);
    clock.advance(300);
    await until(() => one.deltas.length > 0);
    assert.deepEqual(one.deltas, [{ type: "status", text: "keeping the files as they are" }]);
    await one.store.offer("s1", { type: "cancel", by: "user" });
    const { lastEnd, checkpoints } = await session;
    assert.deepEqual([lastEnd, checkpoints], [{ type: "cancelled", by: "user" }, []]);
    assert.deepEqual(one.done, ["checkpoint"]);
  });

  it("is taken again by a new owner, which does not trust the time in between", async () => {
    const one = bench([[put("a"), say("one"), say("two")]]);
    const log = await begin(one);
    let ends = 0;
    const dying: typeof log = {
      ...log,
      append: async (drafts, options) =>
        drafts.some(({ type }) => type === "tool.completed") && ++ends > 1
          ? failure("owner-died", "killed by the test")
          : log.append(drafts, options),
    };
    assert.ok(isFailure(await drive(dying, fold(unwrap(await one.store.read("s1"))), agentOf(one.ports))));
    const session = await run(one, await reclaim(one));
    assert.deepEqual(
      session.checkpoints.map(({ moment, unsure }) => [moment, unsure]),
      [
        ["before", undefined],
        ["after", true],
      ],
    );
  });

  it("is retried by a new owner", async () => {
    let possible = false;
    const one = bench([[put("a")]], {
      checkpoint: () =>
        possible ? { ref: "r", skipped: [], skippedCount: 0 } : failure("disk-full", "full"),
    });
    assert.equal((await run(one)).uncovered?.code, "disk-full");
    possible = true;
    await one.store.offer("s1", { type: "message", text: "again" });
    const session = await run(one, await reclaim(one));
    assert.deepEqual([session.uncovered, session.lastEnd?.type], [undefined, "done"]);
  });
});
