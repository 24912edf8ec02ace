/** Tests that commands which replace or redirect what they run need approval without a sandbox. */
import { after, before, describe, it } from "node:test";
import type { HostilePlace } from "./hostile-place.ts";
import { assertNotAllowed, indirect, openJudgedPlace, replaced } from "./judged-rows.ts";

describe("a command that runs something other than what was judged", { concurrency: 2 }, () => {
  let at: HostilePlace;
  before(async () => {
    at = await openJudgedPlace();
  });
  after(() => at.close());

  for (const command of replaced)
    it(`asks when it replaces it: ${command.split("\n")[0]}`, () => assertNotAllowed(at, command));
  for (const command of indirect) it(`runs something else: ${command}`, () => assertNotAllowed(at, command));
});
