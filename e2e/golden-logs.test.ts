/**
 * Tests sessions that the build of commit 329586d0 recorded (`record-golden-logs.ts`): this build exports,
 * shows, resumes and rewinds them with the same results.
 */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { checkEvent } from "@lathe/protocol";
import { exportedEvents, goldenFolder, type Observed, observe } from "./golden-sessions.ts";
import { makePlace } from "./in-process.ts";

describe("a session that an earlier build recorded", () => {
  for (const kind of readdirSync(goldenFolder)) {
    it(`is unchanged: ${kind}`, async () => {
      const before: Observed = JSON.parse(readFileSync(join(goldenFolder, kind, "observed.json"), "utf8"));
      assert.deepEqual(JSON.parse(JSON.stringify(await observe(kind, makePlace))), inTodaysWords(before));
    });
  }
});

/** Renames what exported events call differently today. */
function inTodaysWords(before: Observed): Observed {
  const events = before.outputs[exportedEvents]?.map((line) =>
    line === "" ? line : JSON.stringify(checkEvent(JSON.parse(line))),
  );
  return { ...before, outputs: { ...before.outputs, ...(events && { [exportedEvents]: events }) } };
}
