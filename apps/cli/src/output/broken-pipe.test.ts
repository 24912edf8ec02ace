/** Tests the handling of broken output in a process that runs many commands. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { handleBrokenPipe } from "./broken-pipe.ts";

it("listens once, however many commands run in one process", () => {
  const count = (): readonly number[] =>
    [process.stdout, process.stderr].map((stream) => stream.listenerCount("error"));
  const before = count();
  for (let run = 0; run < 12; run++) handleBrokenPipe();
  assert.deepEqual(
    count(),
    before.map((one) => one + 1),
  );
});
