/** Registers the run of all probes on each driver of this machine, with what must come out. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { probeDriver } from "@lathe/sandbox";
import { failureTable, scoreOf } from "@lathe/testkit/sandbox-probes/report";
import type { OrdinaryUser } from "./ordinary-user.ts";
import { startProbes } from "./start-probes.ts";

export async function driversHold(user?: OrdinaryUser): Promise<void> {
  const { tiers } = await probeDriver();
  for (const { name, tier, works, why } of tiers) {
    if (tier === "none") continue;
    const skip = !works && `${name} does not work here: ${why}`;
    it(`${name} keeps in what must not get out, and works, as ${user?.name ?? "this user"}`, {
      skip,
    }, async (test) => {
      const results = await startProbes({ driver: name, ...(user === undefined ? {} : { user }) });
      const { contained, worked, escaped, grave, failed, broken } = scoreOf(results);
      const [tried, used] = [contained + escaped.length, worked + failed.length];
      test.diagnostic(`contained ${contained} of ${tried}, worked ${worked} of ${used}`);
      for (const line of failureTable(results).split("\n")) test.diagnostic(line);
      assert.deepEqual({ broken, grave, failed }, { broken: [], grave: [], failed: [] });
      // A probe that is skipped says nothing: enough must be left.
      assert.ok(tried >= 90 && used >= 45, `${tried} escapes, ${used} things that must work`);
      assert.ok(contained >= 0.98 * tried, `escaped: ${escaped.join(", ")}`);
    });
  }
}
