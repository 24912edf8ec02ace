/** Runs the demo once and checks its result. */
import assert from "node:assert/strict";
import { makePlace } from "./lathe.ts";

export async function assertDemoWorks(bug: number): Promise<void> {
  const place = makePlace();
  try {
    const { code, out, err } = await place.run(["demo", "--bug", String(bug)]);
    assert.equal(code, 0, `${out}\n${err}`);
    assert.match(out, /\d+ of \d+ tests fail/);
    assert.match(out, /What changed:/);
    assert.match(out, /✓ all \d+ tests pass/);
    const session = /lathe sessions show (\S+)/.exec(out)?.[1] ?? "";
    const show = await place.run(["sessions", "show", session]);
    assert.equal(show.code, 0);
    assert.match(show.out, /Make the failing test pass\./);
  } finally {
    place.remove();
  }
}
