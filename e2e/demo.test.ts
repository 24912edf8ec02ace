/** `lathe demo` with the embedded model: no key, no network. */
import { it } from "node:test";
import { assertDemoWorks } from "./demo-run.ts";

it("the demo fixes its first bug", async () => {
  await assertDemoWorks(1);
});
