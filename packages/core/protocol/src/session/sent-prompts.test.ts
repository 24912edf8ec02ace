/** Tests the sent prompts after a rewind. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { emptySession } from "../fold.ts";
import { noUsage } from "../usage.ts";
import { brokenBy, rememberAnswered, rememberSent } from "./sent-prompts.ts";

it("each model has its own first request after a rewind", () => {
  const sent = { system: "s", tools: "t", kept: 0, added: ["1"], estimate: 10 };
  const both = rememberSent(rememberSent(emptySession, "a", sent), "b", sent);
  const back = { ...both, prompts: brokenBy(both.prompts, "rewound") };
  const attempt = { id: "1", model: "b", startedAt: 1 };
  const turn = { startedAt: 0, steps: 0, failures: 0, modelFailures: 0, waitedMs: 0, cut: 0, attempt };
  const tried = rememberSent({ ...back, turn }, "b", sent);
  assert.equal(tried.prompts.b?.broken, "rewound", "it was sent, not answered");
  const { prompts } = rememberAnswered(tried, { ...noUsage, input: 10 }, undefined);
  assert.deepEqual([prompts.a?.broken, prompts.b?.broken], ["rewound", undefined]);
});
