/** The message about an unusable scratch folder. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { scratchFailure } from "./scratch-failure.ts";

it("names the folder, the fault, and another place to use", () => {
  const textOf = (code: string): string =>
    scratchFailure("/tmp/s", Object.assign(new Error(code), { code })).text;
  assert.match(textOf("ENOSPC"), /\/tmp\/s is full: TMPDIR can name another/);
  assert.match(textOf("EACCES"), /\/tmp\/s is not writable: TMPDIR/);
  assert.match(scratchFailure("/tmp/s", new Error("closed")).text, /\/tmp\/s cannot be used: TMPDIR/);
});
