/** Tests the fake sandbox against the scriptable part of the contract. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { failure } from "@lathe/protocol";
import { createFakeDriver, createFakeSandbox, type ScriptedCommand } from "./fake-sandbox.ts";
import { sandboxConformance, sandboxScripts } from "./sandbox-conformance.ts";

const { prints, fails, hangs, answers } = sandboxScripts;
const scripts: Readonly<Record<string, ScriptedCommand>> = {
  [prints]: { output: "hello\n" },
  [fails]: { output: "oops\n", code: 3 },
  [hangs]: { output: "begun\n", hangs: true },
  [answers]: { hangs: true, answer: (input) => `got ${input}` },
};

sandboxConformance("fake", () => createFakeDriver(({ script }) => scripts[script]), { isReal: false });

describe("fake sandbox", () => {
  it("answers in order, and records each command", async () => {
    const broken = failure("sandbox-unavailable", "no");
    const sandbox = createFakeSandbox([{ output: "one" }, { failure: broken }]);
    const results = [];
    for (const script of ["a", "b", "c"])
      results.push(await sandbox.exec({ script, cwd: "/w" }, { timeoutMs: 1 }));
    assert.deepEqual(results, [
      { code: 0, timedOut: false, output: "one", bytes: 3, ms: 0 },
      broken,
      { code: 0, timedOut: false, output: "", bytes: 0, ms: 0 },
    ]);
    assert.deepEqual(
      sandbox.commands.map(({ script }) => script),
      ["a", "b", "c"],
    );
  });
});
