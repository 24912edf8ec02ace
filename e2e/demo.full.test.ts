/** `lathe demo` for every bug. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { assertDemoWorks } from "./demo-run.ts";
import { makePlace } from "./lathe.ts";

const place = makePlace();
const { out } = await place.run(["demo", "--list"]);
place.remove();
const bugs = out.trim().split("\n");

describe("demo", () => {
  it("has at least six bugs", () => assert.ok(bugs.length >= 6));
  for (const [i, bug] of bugs.entries()) {
    it(`fixes ${bug}`, () => assertDemoWorks(i + 1));
  }
});
