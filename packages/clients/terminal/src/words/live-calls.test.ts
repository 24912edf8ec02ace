/** What a person sees of the calls that have no outcome yet. */
import assert from "node:assert/strict";
import { it } from "node:test";
import type { Event, Outcome } from "@lathe/protocol";
import {
  callsAfter,
  callsDuring,
  finishedCall,
  type LiveCalls,
  noCalls,
  runningCalls,
  withCall,
  withoutRunning,
} from "./live-calls.ts";

/** Only what the fold reads of them. */
const event = (type: Event["type"], data: object, at = 5): Event => ({ type, data, at }) as unknown as Event;
const after = (...events: readonly Event[]): LiveCalls => events.reduce(callsAfter, noCalls);
const completed = (outcome: Outcome): Event<"tool.completed"> =>
  event("tool.completed", { call: "a", outcome, ms: 7 }) as Event<"tool.completed">;

const answered = event("step.completed", {
  parts: [
    { type: "text", text: "I look." },
    { type: "tool-call", id: "a", tool: "shell", input: '{"command":"ls"}' },
    { type: "tool-call", id: "b", tool: "read", input: '{"path":"a.txt"}' },
  ],
});
const started = event("tool.started", { call: "a" });

it("knows which calls run, in the order of the answer", () => {
  const both = after(answered, event("tool.started", { call: "b" }), started);
  assert.deepEqual(
    runningCalls(both).map(({ tool }) => tool),
    ["shell", "read"],
  );
  assert.deepEqual(runningCalls(callsAfter(both, event("tool.denied", { call: "a" }))).length, 1);
  assert.deepEqual(runningCalls(withoutRunning(both)), []);
  assert.deepEqual(after(event("tool.started", { call: "unknown" })), noCalls);
});

it("keeps the last line of what a call prints", () => {
  const live = callsDuring(after(answered, started), { type: "output", call: "a", text: "one\ntwo\n" });
  assert.equal(runningCalls(live)[0]?.progress, "two");
});

it("finishes a call with its target, and without what came after a cancel", () => {
  const ok: Outcome = { type: "ok", text: "x" };
  const live = after(answered, started);
  assert.deepEqual(finishedCall(live, completed(ok)), { tool: "shell", target: "ls", outcome: ok, ms: 7 });
  const cancelled = callsAfter(live, event("cancel.requested", { by: "user" }));
  assert.equal(finishedCall(cancelled, completed(ok)).outcome.type, "interrupted");
  assert.deepEqual([...callsAfter(live, completed(ok)).calls.keys()], ["b"]);
});

it("changes nothing of the calls before", () => {
  const live = after(answered);
  withCall(live, "c", { tool: "x", input: "", effects: [] });
  callsAfter(live, started);
  assert.deepEqual(live, after(answered));
});
