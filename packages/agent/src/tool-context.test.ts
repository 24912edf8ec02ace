import assert from "node:assert/strict";
import { test } from "node:test";
import type { CallState, Outcome, Shown } from "@lathe/protocol";
import type { AgentPorts } from "./agent.ts";
import { toolContext } from "./tool-context.ts";

function shownAs(version: string): Shown {
  return { path: "a.ts", version, ranges: [[1, 2]] };
}

function call(id: string, outcome?: Outcome): CallState {
  return {
    call: { type: "tool-call", id, tool: "edit", input: "{}" },
    effects: [],
    ...(outcome && { outcome }),
  };
}

test("a call stands on what earlier calls of its own answer have shown", () => {
  const edited: Outcome = {
    type: "ok",
    text: "",
    facts: { shown: [shownAs("v2"), { ...shownAs("x"), path: "b.ts" }] },
  };
  const session = {
    shown: { "a.ts": [shownAs("v1")] },
    todos: [],
    grants: [],
    settings: { mode: "auto" } as const,
    calls: [call("one", edited), call("two")],
  };
  const ports = { rules: [] } as unknown as AgentPorts;
  const context = toolContext(ports, { call: "two", session, signal: new AbortController().signal });
  assert.deepEqual(
    context.shown("a.ts").map(({ version }) => version),
    ["v1", "v2"],
  );
  assert.deepEqual(context.shown("c.ts"), []);
});

test("a host that an allowed command names is granted, and nothing else of the network", () => {
  const effects = [
    { kind: "network", target: "example.com:8443", traits: ["named"] },
    { kind: "network", target: "npm ci" },
    { kind: "network", target: "$URL", expansion: "unknown" },
  ] as const;
  const decision = { verdict: "allow", rule: "network", why: "" } as const;
  const session = { shown: {}, todos: [], grants: [], calls: [{ ...call("one"), effects, decision }] };
  const ports = { rules: [] } as unknown as AgentPorts;
  const { grants } = toolContext(ports, { call: "one", session, signal: new AbortController().signal });
  assert.deepEqual(
    grants.map(({ target }) => target),
    ["example.com:8443"],
  );
});
