/** When the files are kept: once before each step that may change them, and after the turn. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { failure } from "@lathe/protocol";
import { type Bench, type BenchOptions, openBench, run, say } from "./bench.test.ts";

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

describe("a checkpoint", () => {
  it("is taken before the first call of a step that may change files, and after the turn", async () => {
    const one = bench([[get("a"), put("a"), put("b")], [get("a")], [say("hi")]]);
    const session = await run(one);
    assert.deepEqual(one.done, [
      "get a",
      "checkpoint",
      "put a",
      "put b",
      "get a",
      "checkpoint",
      "say hi",
      "checkpoint",
    ]);
    assert.deepEqual(
      session.checkpoints.map(({ moment, ref }) => [moment, ref]),
      [
        ["before", "ref 2"],
        ["before", "ref 6"],
        ["after", "ref 8"],
      ],
    );
    assert.equal(session.lastEnd?.type, "done");
  });

  it("is in the log before the call starts", async () => {
    const one = bench([[put("a")]]);
    await run(one);
    const types = one.events.map(({ type }) => type);
    assert.ok(types.indexOf("checkpoint.taken") < types.indexOf("tool.started"));
    assert.ok(types.indexOf("checkpoint.taken") > types.indexOf("permission.decided"));
  });

  it("is not taken for a session that only reads, nor when nobody asked for it", async () => {
    const reading = bench([[get("a")]]);
    await run(reading);
    assert.deepEqual(reading.done, ["get a"]);
    const off = bench([[put("a")]], { settings: {} });
    await run(off);
    assert.deepEqual(off.done, ["put a"]);
  });

  it("that cannot be taken stops nothing, and is asked for again only where it may be had", async () => {
    for (const [retry, asked] of [
      ["same", 3],
      ["never", 1],
    ] as const) {
      const one = bench([[put("a")], [put("b")]], {
        checkpoint: () => failure("too-large", "too many files", { retry }),
      });
      const session = await run(one);
      assert.equal(one.done.filter((what) => what === "checkpoint").length, asked);
      assert.deepEqual([session.lastEnd?.type, session.checkpoints.length], ["done", 0]);
    }
  });
});
