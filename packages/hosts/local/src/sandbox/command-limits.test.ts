import assert from "node:assert/strict";
import { it } from "node:test";
import { usualLimits } from "@lathe/sandbox";
import { commandLimits } from "./command-limits.ts";

const usual = usualLimits();

it("keeps the default limits, except those that were chosen", async () => {
  assert.deepEqual(await commandLimits({ wanted: {}, most: {} }), usual);
  const memoryBytes = usual.memoryBytes * 4;
  assert.deepEqual(await commandLimits({ wanted: { memoryBytes }, most: {} }), { ...usual, memoryBytes });
});

it("exceeds no cap, even by the default limits", async () => {
  const most = { memoryBytes: 2 ** 30, processes: 64 };
  const limits = await commandLimits({ wanted: { memoryBytes: 2 ** 33 }, most });
  assert.deepEqual(limits, { ...usual, ...most });
});
