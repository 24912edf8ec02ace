import assert from "node:assert/strict";
import { test } from "node:test";
import { isFailure } from "@lathe/protocol";
import { createdDraft, createMemoryStore, succeeded, testOwner } from "@lathe/testkit";
import { answerDrafts, done, failedOutcome, said } from "../sample-drafts.ts";
import { trajectoryOf } from "./trajectory.ts";

test("a session becomes a trajectory: numbered steps, calls with their observations, sums", async () => {
  const store = createMemoryStore();
  const log = succeeded(await store.create(createdDraft("one"), { owner: testOwner(1), at: 1000 }));
  const read = { tool: "read", input: { path: "a" }, outcome: failedOutcome("not-found", "no a") };
  const drafts = [
    said("do it"),
    ...answerDrafts("a", [read, { tool: "shell", input: "odd" }]),
    ...answerDrafts("b", []),
    done,
  ];
  succeeded(await log.append(drafts, { at: 2000, durable: false }));
  const events = await store.read("one");
  assert.ok(!isFailure(events));
  const { steps, ...rest } = trajectoryOf(events) ?? assert.fail();
  assert.deepEqual(
    steps.map(({ step_id, source }) => [step_id, source]),
    [
      [1, "system"],
      [2, "user"],
      [3, "agent"],
      [4, "agent"],
    ],
  );
  const [, user, agent] = steps;
  assert.equal(user?.message, "do it");
  assert.deepEqual(agent?.tool_calls, [
    { tool_call_id: "a.0", function_name: "read", arguments: { path: "a" } },
    { tool_call_id: "a.1", function_name: "shell", arguments: { input: "odd" } },
  ]);
  assert.equal(agent?.observation?.results[0]?.content, "Failed (not-found): no a");
  assert.deepEqual(agent?.metrics, {
    prompt_tokens: 1000,
    completion_tokens: 50,
    cached_tokens: 800,
    cost_usd: 0.01,
  });
  assert.deepEqual(rest, {
    schema_version: "ATIF-v1.7",
    session_id: "one",
    trajectory_id: "one",
    agent: { name: "lathe", version: "0.0.0", model_name: "test/one" },
    final_metrics: {
      total_prompt_tokens: 2000,
      total_completion_tokens: 100,
      total_cached_tokens: 1600,
      total_cost_usd: 0.02,
      total_steps: 4,
    },
  });
  assert.equal(trajectoryOf(events.slice(1)), undefined);
});
