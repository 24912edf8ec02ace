/** What ends behind the conversation: told before the next request, and a reason to go on where somebody looks on. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { failure, fold, type Session } from "@lathe/protocol";
import type { Script } from "@lathe/testkit";
import {
  assertValidConversation,
  type Bench,
  type BenchTool,
  begin,
  openBench,
  reclaim,
  run,
  say,
  unwrap,
} from "../bench.test.ts";
import type { Ports } from "../ports.ts";

/** `start {id}` leaves a command in the background, `look {id}` finds that it has ended. */
const processTools: readonly BenchTool[] = [
  {
    name: "start",
    run: ({ id }: { id: string }) => ({
      type: "ok",
      text: `still running as ${id}`,
      facts: { process: { id, running: true, produced: false } },
    }),
  },
  {
    name: "look",
    run: ({ id }: { id: string }) => ({
      type: "ok",
      text: "[exit code 0]",
      facts: { process: { id, running: false, produced: false } },
    }),
  },
];
const start = (id: string) => ({ calls: [{ tool: "start", input: { id } }] });

interface Chat {
  /** After its first turn. */
  readonly first: Session;
  readonly bench: Bench;
  /** Ends a command. */
  end(id: string): void;
  /** *Contract:* runs until no turn is open; with "" nothing is said. */
  say(text: string): Promise<Session>;
}

async function opened(script: Script, wakes = true): Promise<Chat> {
  const bench = openBench({ script, tools: processTools });
  const waiting: string[] = [];
  const background: NonNullable<Ports["background"]> = {
    endings: async () => {
      const ended = waiting.splice(0);
      return ended.length > 0 ? { text: `${ended.join(", ")} ended`, ended } : undefined;
    },
    wakes: () => wakes && waiting.length > 0,
  };
  const ports = { ...bench.ports, background };
  const whole = { ...bench, ports };
  const log = await begin(whole);
  const first = await run(whole, log);
  return {
    ...{ bench: whole, first },
    end: (id) => void waiting.push(id),
    say: async (text) => {
      if (text !== "") await bench.store.offer("s1", { type: "message", text });
      return run(whole, log);
    },
  };
}

/** What the model was sent last. */
const sent = ({ scripted }: Bench): string => JSON.stringify(scripted.requests.at(-1)?.messages);

describe("a command that ended in the background", () => {
  it("is told before the next request, once, and the requests only grow", async () => {
    const chat = await opened(
      [start("p1"), { text: "started" }, { calls: [say("x")] }, { text: "ok" }],
      false,
    );
    assert.deepEqual(chat.first.background, ["p1"]);
    chat.end("p1");
    const session = await chat.say("and now?");
    assert.equal(session.background, undefined);
    assert.match(sent(chat.bench), /and now\?.*<notice from=\\"harness\\">p1 ended<\/notice>.*said x/);
    assert.equal(sent(chat.bench).split("p1 ended").length, 2);
    assertValidConversation(session);
    const { requests } = chat.bench.scripted;
    for (const [i, { messages }] of requests.entries())
      assert.deepEqual(
        messages.slice(0, requests[i - 1]?.messages.length ?? 0),
        requests[i - 1]?.messages ?? [],
      );
    assert.deepEqual(fold(unwrap(await chat.bench.store.read("s1"))), session);
  });

  it("makes the agent go on that had ended its turn, in a turn of its own", async () => {
    const chat = await opened([start("p1"), { text: "I wait" }, { text: "it is done" }]);
    chat.end("p1");
    const session = await chat.say("");
    assert.match(sent(chat.bench), /I wait.*p1 ended/);
    const turns = chat.bench.events.filter(({ type }) => type === "turn.ended");
    assert.deepEqual([turns.length, session.woken, session.turn], [2, 1, undefined]);
    assert.deepEqual(fold(unwrap(await chat.bench.store.read("s1"))), session);
  });

  it("waits for words where nobody looks on", async () => {
    const chat = await opened([start("p1"), { text: "I wait" }], false);
    chat.end("p1");
    await chat.say("");
    assert.equal(chat.bench.scripted.requests.length, 2);
  });

  it("does not wake who failed, and is told with the next words", async () => {
    const chat = await opened([
      start("p1"),
      { failure: failure("unauthorized", "wrong key") },
      { text: "ok" },
    ]);
    chat.end("p1");
    assert.equal((await chat.say("")).lastEnd?.type, "failed");
    assert.match(JSON.stringify((await chat.say("go on")).messages), /p1 ended/);
  });

  it("does not wake who was stopped", async () => {
    const chat = await opened([start("p1"), { text: "I wait" }, { text: "no", hangs: true }, { text: "ok" }]);
    const stopped = chat.say("more");
    await chat.bench.store.offer("s1", { type: "cancel", by: "user" });
    assert.equal((await stopped).lastEnd?.type, "cancelled");
    chat.end("p1");
    const { requests } = chat.bench.scripted;
    const before = requests.length;
    await chat.say("");
    assert.equal(requests.length, before);
  });

  it("wakes eight times in a row at most, and again once somebody has spoken", async () => {
    const chat = await opened(() => ({ text: "I wait" }));
    for (let i = 0; i < 12; i++) {
      chat.end(`p${i}`);
      await chat.say("");
    }
    assert.equal(chat.bench.scripted.requests.length, 1 + 8);
    const session = await chat.say("still there");
    assert.equal(session.woken, undefined);
    chat.end("p12");
    assert.equal((await chat.say("")).woken, 1);
  });

  it("is told of where the process ended that had the session", async () => {
    const chat = await opened([start("p1"), start("p2"), { calls: [{ tool: "look", input: { id: "p2" } }] }]);
    assert.deepEqual(chat.first.background, ["p1"]);
    const log = await reclaim(chat.bench);
    await chat.bench.store.offer("s1", { type: "message", text: "go on" });
    const session = await run(chat.bench, log);
    assert.match(sent(chat.bench), /background process p1 ended with it/);
    assert.deepEqual([session.background, session.lost], [undefined, undefined]);
    await chat.bench.store.offer("s1", { type: "message", text: "and on" });
    await run(chat.bench, await reclaim(chat.bench));
    assert.equal(sent(chat.bench).split("ended with it").length, 2);
  });
});
