import assert from "node:assert/strict";
import { it } from "node:test";
import { failure, type ToolContext, type Workspace } from "@lathe/protocol";
import { createMemoryStore } from "@lathe/testkit";
import { boundedOutcome } from "./bounded-outcome.ts";

const noise = (from: number): string =>
  Array.from({ length: 1_000 }, (_, at) => `worker wrote row ${from + at} to the table`).join("\n");

it("cuts a long output, but never inside a character", async () => {
  const context = { blobs: createMemoryStore(), workspace: { root: "/w" } } as unknown as ToolContext;
  for (const text of ["a", "ab"].map((first) => first + "😀".repeat(20_000))) {
    const outcome = await boundedOutcome({ type: "ok", text }, context);
    assert.ok(outcome.type === "ok" && outcome.text.isWellFormed());
    const [, left, all] = /\[\.\.\. (\d+) of (\d+) characters left out/.exec(outcome.text) ?? [];
    const shown = outcome.text.replace(/\n\[\.\.\. .* \.\.\.\]\n/, "");
    assert.equal(shown.length + Number(left), Number(all), "what is neither shown nor left out is lost");
  }
});

it("says where the whole output of an interrupted call is", async () => {
  const blobs = createMemoryStore();
  const context = { blobs, workspace: { root: "/w" } } as unknown as ToolContext;
  const why = failure("command-timeout", "The command was stopped after 1 s.");
  const outcome = await boundedOutcome({ type: "interrupted", failure: why, text: noise(0) }, context);
  assert.ok(outcome.type === "interrupted" && outcome.text.length < noise(0).length);
  assert.equal(await blobs.get(outcome.blob ?? ""), noise(0));
});

it("reports failures from the part of a long output that it leaves out", async () => {
  const store = createMemoryStore();
  const context = { blobs: store, workspace: { root: "/w" } as Workspace } as unknown as ToolContext;
  const failed =
    "✖ keeps the ledger (3.1ms)\n  TypeError: ledger.open is not a function\n      at /w/src/ledger.ts:41:7\nℹ tests 9";
  const text = `${noise(0)}\n${failed}\n${noise(2_000)}`;
  const outcome = await boundedOutcome({ type: "ok", text }, context);
  assert.ok(outcome.type === "ok" && outcome.text.length < 20_000);
  for (const one of [
    "node:test",
    "keeps the ledger",
    "TypeError: ledger.open",
    "src/ledger.ts:41",
    "row 0 ",
    "row 2999 ",
  ]) {
    assert.ok(outcome.text.includes(one), one);
  }
  assert.equal(await store.get(outcome.blob ?? ""), text);
  const apart = `> vitest run\n\n RUN  v3.2.4 /w\n${noise(0)}\n FAIL  a.test.ts [ a.test.ts ]\n${noise(2_000)}`;
  const told = await boundedOutcome({ type: "ok", text: apart }, context);
  assert.ok(told.type === "ok" && told.text.includes("vitest: no summary\nfailing (1):\n- a.test.ts"));
  const plain = await boundedOutcome({ type: "ok", text: noise(0) }, context);
  assert.ok(plain.type === "ok" && !plain.text.includes("[in what is left out:]"));
});

it("names every one of many failures, in a share of their output's length", async () => {
  const context = { blobs: createMemoryStore(), workspace: { root: "/w" } } as unknown as ToolContext;
  const names = Array.from({ length: 120 }, (_, at) => `test_row_${1_000 + at}`);
  const failing = (name: string): string =>
    `${"=".repeat(70)}\nFAIL: ${name} (tests.test_ledger.LedgerTest)\n${"-".repeat(70)}\nTraceback (most recent call last):\n  File "/w/tests/test_ledger.py", line 12, in ${name}\n    self.assertEqual(first, second)\nAssertionError: 1 != 2\n\n${"log of the case\n".repeat(20)}`;
  const text = `${names.map(failing).join("")}\nRan 120 tests in 0.1s\n\nFAILED (failures=120)\n`;
  const outcome = await boundedOutcome({ type: "ok", text }, context);
  assert.ok(outcome.type === "ok");
  const shown = outcome.text;
  assert.deepEqual(
    names.filter((name) => !shown.includes(name)),
    [],
  );
  assert.ok(shown.length < 16_000 + text.length / 10 + 200, `${shown.length} of ${text.length}`);
});
