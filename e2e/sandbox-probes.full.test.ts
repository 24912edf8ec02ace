/** Each driver of this machine against the whole suite of probes, as this user and as an ordinary one. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { probeDriver } from "@lathe/sandbox";
import { failureTable, scoreOf } from "@lathe/testkit/sandbox-probes/report";
import { ordinaryUser } from "./ordinary-user.ts";
import { startProbes } from "./start-probes.ts";

const { tiers } = await probeDriver();
const isRoot = process.getuid?.() === 0;
const users = [undefined, ...(isRoot ? [ordinaryUser()] : [])];

for (const { name, tier, works, why } of tiers) {
  if (tier === "none") continue;
  describe(`sandbox probes: ${name}`, { skip: !works && `${name} does not work here: ${why}` }, () => {
    for (const user of users) {
      it(`keeps in what must not get out, and works, as ${user?.name ?? "this user"}`, async (test) => {
        const results = await startProbes({ driver: name, ...(user === undefined ? {} : { user }) });
        const { contained, worked, escaped, grave, failed, broken } = scoreOf(results);
        test.diagnostic(
          `contained ${contained} of ${contained + escaped.length}, worked ${worked} of ${worked + failed.length}`,
        );
        for (const line of failureTable(results).split("\n")) test.diagnostic(line);
        assert.deepEqual({ broken, grave, failed }, { broken: [], grave: [], failed: [] });
        // A probe that is skipped says nothing: enough must be left.
        assert.ok(contained >= 90 && worked >= 45, `${contained} contained, ${worked} worked`);
        assert.ok(contained >= 0.98 * (contained + escaped.length), `escaped: ${escaped.join(", ")}`);
      });
    }
  });
}
