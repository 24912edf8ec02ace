/**
 * The control of the sandbox's probes: without a sandbox every escape succeeds, so each probe is able to
 * fail.
 */
import assert from "node:assert/strict";
import { it } from "node:test";
import { bareDriverName, escapeProbes } from "@lathe/testkit/sandbox-probes";
import { ordinaryUser } from "./ordinary-user.ts";
import { startProbes } from "./start-probes.ts";

const isRoot = process.getuid?.() === 0;

for (const user of [undefined, ...(isRoot ? [ordinaryUser()] : [])]) {
  it(`succeeds with every escape without a sandbox, as ${user?.name ?? "this user"}`, async (test) => {
    const kind = "escape" as const;
    const results = await startProbes({
      driver: bareDriverName,
      kind,
      ...(user === undefined ? {} : { user }),
    });
    const isAsRoot = isRoot && user === undefined;
    const excused = escapeProbes.filter(
      (probe) =>
        probe.kind === "escape" &&
        (probe.weakControl !== undefined || (!isAsRoot && probe.controlNeeds?.includes("root"))),
    );
    const ids = new Set(excused.map(({ id }) => id));
    for (const { id, why } of results.filter(({ outcome }) => outcome === "skipped"))
      test.diagnostic(`skipped ${id}: ${why}`);
    const unseen = results.filter(
      ({ id, outcome }) => (outcome === "contained" && !ids.has(id)) || outcome === "broken",
    );
    assert.deepEqual(
      unseen.map(({ id, why }) => `${id}: ${why}`),
      [],
    );
    assert.ok(results.filter(({ outcome }) => outcome === "escaped").length >= 90);
  });
}
