/** Costs of attempts with an unknown price. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { type Draft, type Event, failure } from "@lathe/protocol";
import { foldCosts } from "./fold-costs.ts";

it("a failed attempt with an unknown price is not reported as free", () => {
  const settings = { models: ["a/x"], mode: "auto", attended: false } as const;
  const drafts: readonly Draft[] = [
    {
      type: "session.created",
      data: { id: "s", cwd: "/", title: "t", harness: "h", prompt: { system: "", tools: [] } },
    },
    { type: "session.configured", data: { settings, limits: {} } },
    { type: "message.received", data: { parts: [{ type: "text", text: "go" }] } },
    { type: "step.started", data: { attempt: "1", model: "a/x" } },
    { type: "budget.reserved", data: { attempt: "1", tokens: 900 } },
    { type: "budget.settled", data: { attempt: "1", tokens: 900 } },
    {
      type: "step.failed",
      data: { attempt: "1", model: "a/x", failure: failure("stalled", "silent"), ms: 1 },
    },
  ];
  const events = drafts.map(
    (draft, at) => ({ v: 1, session: "s", seq: at + 1, parent: at, at: 0, ...draft }) as Event,
  );
  const { attempts, charged, unpriced } = foldCosts(events).failed;
  assert.deepEqual([attempts, charged.tokens, unpriced], [1, 900, 1]);
});
