/** Tests circuits of a rewound conversation. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { halfOpened } from "./circuit.ts";

it("a rewound conversation may fit a model again: nothing is known about its length", () => {
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
