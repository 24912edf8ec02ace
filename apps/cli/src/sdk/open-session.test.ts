/** A session in a program: one turn at a time, cancelled whenever that is said. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { type Failure, isFailure, type Model, type ModelPart } from "@lathe/protocol";
import { type AgentSession, openSession, type Turn } from "./open-session.ts";

describe("a session in a program", () => {
  let root: string;
  let session: AgentSession;
  /** Answers wait for it. */
  let held: PromiseWithResolvers<void> | undefined;
  const ends: string[] = [];
  const before = process.env.XDG_STATE_HOME;

  const model: Model = {
    info: { id: "own/model", window: 100_000, maxOutput: 1000 },
    async *stream(_request, signal): AsyncGenerator<ModelPart, void> {
      const stopped = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      yield { type: "text-delta", text: "working" };
      await Promise.race([held?.promise, ...(held ? [stopped] : [])]);
      const usage = { input: 10, cached: 0, written: 0, output: 1, reasoning: 0 };
      yield { type: "finished", reason: "stop", parts: [{ type: "text", text: "Done." }], usage };
    },
  };
  beforeEach(async () => {
    root = mkdtempSync(join(tmpdir(), "lathe-sdk-"));
    process.env.XDG_STATE_HOME = join(root, "state");
    held = undefined;
    ends.length = 0;
    const opened = await openSession({
      ...{ cwd: root, model: "own/model", models: { "own/model": model }, sandbox: false },
      onEvent: ({ type, data }) => {
        if (type === "turn.ended") ends.push(data.end.type);
      },
    });
    assert.ok(!isFailure(opened), JSON.stringify(opened));
    session = opened;
  });
  afterEach(async () => {
    await session.close();
    if (before === undefined) delete process.env.XDG_STATE_HOME;
    else process.env.XDG_STATE_HOME = before;
    rmSync(root, { recursive: true, force: true });
  });
  const ran = async (turn: Promise<Turn | Failure>): Promise<readonly unknown[]> => {
    const ended = await turn;
    return isFailure(ended) ? [ended.code, ended.text] : [ended.end.type, ended.text];
  };

  it("refuses a second turn while one runs, which goes on", async () => {
    held = Promise.withResolvers();
    const first = session.run("one");
    const [code, text] = await ran(session.run("two"));
    assert.equal(code, "invalid-arguments");
    assert.match(String(text), /a turn of this session is running/);
    held.resolve();
    assert.deepEqual(await ran(first), ["done", "Done."]);
    assert.deepEqual(await ran(session.run("three")), ["done", "Done."]);
  });

  it("cancels the turn whose stream is left, and is free for the next one", async () => {
    held = Promise.withResolvers();
    for await (const happening of session.stream("one")) if ("delta" in happening) break;
    held = undefined;
    assert.deepEqual(ends, ["cancelled"]);
    assert.deepEqual(await ran(session.run("two")), ["done", "Done."]);
  });

  it("hears a cancel in the moment words are said, in the first turn and in later ones", async () => {
    for (const words of ["one", "two", "three"]) {
      held = Promise.withResolvers();
      const turn = session.run(words);
      await session.cancel();
      assert.deepEqual((await ran(turn))[0], "cancelled", words);
    }
    held = undefined;
    assert.deepEqual(await ran(session.run("four")), ["done", "Done."]);
  });
});
