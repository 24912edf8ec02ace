/** Circuits of a conversation that went back. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { halfOpened } from "./circuit.ts";

it("a conversation that went back may fit where it did not: nothing of its length is known any more", () => {
  const long = { code: "context-overflow", why: "too long", since: 1, opens: 1 } as const;
  const circuits = {
    "a/wide": { ...long, window: 200_000 },
    "b/busy": { ...long, code: "overloaded", until: 7 },
  } as const;
  assert.deepEqual(halfOpened(circuits, 5), {
    "a/wide": { ...long, until: 5 },
    "b/busy": { ...long, code: "overloaded", until: 7 },
  });
});
