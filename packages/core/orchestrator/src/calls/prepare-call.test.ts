import assert from "node:assert/strict";
import { test } from "node:test";
import type { Tool, ToolCallPart } from "@lathe/protocol";
import { begin, openBench, run } from "../bench.test.ts";
import { callPreparer } from "./prepare-call.ts";

function countingTool(parsed: unknown[]): Tool {
  return {
    name: "count",
    description: "",
    parameters: {},
    prepare: (input) => {
      parsed.push(input);
      return { effects: [], run: async () => ({ type: "ok", text: "" }) };
    },
  };
}

const call: ToolCallPart = { type: "tool-call", id: "c1", tool: "count", input: '{"a":1}' };

test("a call is prepared once, and another one with the same bytes is prepared again", () => {
  const parsed: unknown[] = [];
  const prepare = callPreparer([countingTool(parsed)]);
  assert.equal(prepare(call), prepare(call));
  assert.deepEqual(parsed, [{ a: 1 }]);
  prepare({ ...call, id: "c2" });
  assert.equal(parsed.length, 2);
});

test("a call that is decided, started and run has its arguments parsed once", async () => {
  const bench = openBench({
    script: [{ calls: [{ tool: "say", input: { text: "hi" } }] }, { text: "done" }],
  });
  let asked = 0;
  const seen = new Set<unknown>();
  const { prepare } = bench.ports;
  const counting = {
    ...bench,
    ports: {
      ...bench.ports,
      prepare: (one: ToolCallPart) => {
        asked += 1;
        const prepared = prepare(one);
        seen.add(prepared);
        return prepared;
      },
    },
  };
  await run(counting, await begin(counting));
  assert.ok(asked >= 3);
  assert.equal(seen.size, 1);
});
