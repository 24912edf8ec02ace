import assert from "node:assert/strict";
import { test } from "node:test";
import { failure } from "@lathe/protocol";
import { recoveryText } from "./recovery-text.ts";

test("the text lists restored, skipped and unrestorable files", () => {
  const failed = [failure("disk-full", "d.ts could not be written: the disk is full.")];
  const text = recoveryText({ back: ["a.ts", "b.ts"], left: ["c.ts"], failed });
  assert.match(text, /restored a\.ts, b\.ts; kept c\.ts, changed since; d\.ts could not be written/);
  assert.match(
    recoveryText({ back: [..."abcdefg"], left: [], failed: [] }),
    /restored a, b, c, d, e and 2 more$/,
  );
});
