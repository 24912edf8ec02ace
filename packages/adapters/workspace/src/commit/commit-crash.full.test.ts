/** Crashes during the recovery from more crashes of a commit than there is time for in every run. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { crashAgain } from "./crashed-commits.test.ts";

it("a crash during the recovery from another changes nothing", async (t) => {
  const count = await crashAgain(41);
  t.diagnostic(`${count} states`);
  assert.ok(count > 3000);
});
