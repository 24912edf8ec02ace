/** Which attempt is applied and which are discarded, once they are judged. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { type Attempts, failure, isFailure } from "@lathe/protocol";
import { runBestOf } from "./best-of.ts";
import { memoryAttempts } from "./memory-attempts.test.ts";
import type { Place } from "./place.ts";

const result = { end: "done", files: 1, added: 1, removed: 0, steps: 1, cost: 0, costUnknown: false, ms: 1 };
const judged: Attempts = {
  attempts: ["f0", "f1"].map((id) => ({ session: `s-${id}`, place: { type: "fork", id } })),
  seed: 1,
  apply: true,
  keepAll: false,
  verdict: { results: [result, result], winner: 0, by: "tests", why: "it passes" },
};

const nothing = {
  held: new Map<string, string>(),
  stuck: new Set<string>(),
  from: "",
  runLater: new Map<string, string>(),
};

/** Records the steps in order; the first attempt is the winner. */
async function settle(attempts: Attempts, winner: "there" | "refused" | "gone"): Promise<readonly string[]> {
  const done: string[] = [];
  const says = (text: string) => async (): Promise<undefined> => void done.push(text);
  const unused = async (): Promise<never> => assert.fail();
  const place = (id: string): Place => ({
    enter: unused,
    enterCopy: unused,
    compare: unused,
    ways: { take: "", drop: "", look: "" },
    take: async () => {
      done.push(`take ${id}`);
      return winner === "refused" ? failure("stale-version", "moved") : { ...nothing, kept: [] };
    },
    drop: says(`drop ${id}`),
  });
  const ended = await runBestOf({
    host: { ...memoryAttempts().host, start: () => assert.fail() },
    parallel: 1,
    testMs: 1,
    worker: () => [],
    log: {
      id: "root",
      cwd: "/project",
      attempts,
      models: [],
      words: { text: "do it" },
      judged: unused,
      taking: async (at) => void done.push(`taking ${at}`),
      settled: async (taken) => void done.push(`settled ${taken}`),
      keepFiles: async (moment) => void done.push(moment),
      close: unused,
    },
    places: [winner === "gone" ? undefined : place("0"), place("1")],
    observer: { onAttempt: () => undefined, onRemark: () => undefined },
    signal: new AbortController().signal,
  });
  assert.ok(!isFailure(ended));
  return [...done, ...(ended.isByHand ? ["by hand"] : []), ...(ended.isDoubtful ? ["doubtful"] : [])];
}

it("logs the winner durably before applying it, and discards the others after", async () => {
  assert.deepEqual(await settle(judged, "there"), [
    "taking 0",
    "before",
    "take 0",
    "after",
    "drop 1",
    "settled 0",
  ]);
  assert.deepEqual(await settle(judged, "refused"), [
    "taking 0",
    "before",
    "take 0",
    "after",
    "taking undefined",
  ]);
});

it("counts a winner whose place is gone as applied only if applying had begun", async () => {
  assert.deepEqual(await settle({ ...judged, taking: 0 }, "gone"), ["after", "drop 1", "settled 0"]);
  assert.deepEqual(await settle(judged, "gone"), ["settled undefined", "by hand"]);
});

it("applies no winner without asking that changed its tests, unless the original tests pass", async () => {
  const passed = { passed: true, ms: 1 };
  const winner = { ...result, tests: passed, testFiles: ["package.json"] };
  const withResult = (one: typeof winner & { readonly originalTests?: typeof passed }): Attempts => ({
    ...judged,
    verdict: { results: [one, result], winner: 0, by: "tests", why: "it passes" },
  });
  assert.deepEqual(await settle(withResult(winner), "there"), ["settled undefined", "doubtful"]);
  const failing = { ...winner, originalTests: { passed: false, ms: 1 } };
  assert.deepEqual(await settle(withResult(failing), "there"), ["settled undefined", "doubtful"]);
  const sure = await settle(withResult({ ...winner, originalTests: passed }), "there");
  assert.deepEqual(sure.at(-1), "settled 0");
});
