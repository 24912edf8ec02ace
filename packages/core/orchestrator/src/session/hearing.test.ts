/** Tests slow hooks: a cancel does not wait for them. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fold, type Hooks, messageText } from "@lathe/protocol";
import {
  agentOf,
  type Bench,
  type BenchTool,
  begin,
  openBench,
  reclaim,
  run,
  types,
  until,
  unwrap,
} from "../bench.test.ts";
import { drive } from "../drive.ts";

/** Hooks that do nothing. */
const silent: Hooks = {
  decide: async (_call, decision) => decision,
  permit: async () => undefined,
  ran: async (_call, outcome) => outcome,
  heard: async () => "",
  stopping: async () => undefined,
  compacting: async () => ({ isBlocked: false }),
};

/** Settles only when the signal aborts. */
function stopped(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(undefined)));
}

function withHooks(bench: Bench, hooks: Partial<Hooks>): Bench {
  return { ...bench, ports: { ...bench.ports, hooks: { ...silent, ...hooks } } };
}

describe("a cancel", () => {
  it("ends a turn that a hook keeps from ending", async () => {
    let isAsked = false;
    const stopping: Hooks["stopping"] = (_last, _again, signal) => {
      isAsked = true;
      return stopped(signal);
    };
    const bench = withHooks(openBench({ script: [{ text: "done" }] }), { stopping });
    const session = run(bench);
    await until(() => isAsked);
    await bench.store.offer("s1", { type: "cancel", by: "user" });
    assert.deepEqual((await session).lastEnd, { type: "cancelled", by: "user" });
  });

  it("works while a hook looks at another message, which is then dropped", async () => {
    const asked: string[] = [];
    const heard: Hooks["heard"] = async (words, signal) => {
      asked.push(words);
      return words === "steer" ? stopped(signal) : "";
    };
    const steer: BenchTool = {
      name: "steer",
      run: async (_input, _context, { store }) => {
        await store.offer("s1", { type: "message", text: "steer" });
        return { type: "ok", text: "" };
      },
    };
    const calls = [{ tool: "steer", input: {} }];
    const bench = withHooks(openBench({ script: [{ calls }, { text: "ok" }], tools: [steer] }), { heard });
    const session = run(bench);
    await until(() => asked.includes("steer"));
    await bench.store.offer("s1", { type: "cancel", by: "user" });
    const { lastEnd, messages } = await session;
    assert.deepEqual(lastEnd, { type: "cancelled", by: "user" });
    assert.ok(!messages.some(({ parts }) => messageText(parts).includes("steer")));
    assert.deepEqual(await bench.store.pending("s1"), []);
    assert.deepEqual(asked, ["do it", "steer"]);
  });
});

describe("messages", () => {
  it("go to hooks once, and all that arrive meanwhile are received", async () => {
    const asked: string[] = [];
    const heard: Hooks["heard"] = async (words) => {
      asked.push(words);
      if (asked.length < 3) await plain.store.offer("s1", { type: "message", text: `more ${asked.length}` });
      return words === "more 1" ? "as a hook knows" : "";
    };
    const plain = openBench({ script: () => ({ text: "ok" }) });
    const bench = withHooks(plain, { heard });
    const session = await run(bench);
    assert.deepEqual(asked, ["do it", "more 1", "more 2"]);
    const said = session.messages.flatMap(({ role, parts }) => (role === "user" ? [messageText(parts)] : []));
    assert.deepEqual(
      said.map((text) => text.split("<notice", 1)[0]?.trim()),
      ["do it", "more 1", "more 2"],
    );
    assert.match(said[1] ?? "", /A hook adds: as a hook knows/);
  });

  it("that were received before a death do not go to hooks again", async () => {
    const asked: string[] = [];
    const heard: Hooks["heard"] = async (words) => {
      asked.push(words);
      return "";
    };
    const bench = withHooks(openBench({ script: [{ text: "ok" }] }), { heard });
    const log = await begin(bench);
    const inbox = { ...bench.ports.inbox, taken: async () => assert.fail("killed by the test") };
    await drive(log, fold(unwrap(await bench.store.read("s1"))), agentOf({ ...bench.ports, inbox }));
    const session = await run(bench, await reclaim(bench));
    assert.deepEqual(
      [asked, types(bench).filter((type) => type === "message.received").length],
      [["do it"], 1],
    );
    assert.ok(session.lastEnd !== undefined);
  });
});
