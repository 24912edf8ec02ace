import assert from "node:assert/strict";
import { it } from "node:test";
import { failure, type SandboxDriver } from "@lathe/protocol";
import { createContainmentProbe } from "./containment.ts";

const driver: SandboxDriver = { name: "x", tier: "full", open: async () => failure("bug", "not here") };

it("says that nothing holds until it has looked, and looks once", async () => {
  let looks = 0;
  const probe = createContainmentProbe("required", async () => {
    looks++;
    return { driver, reasons: [] };
  });
  assert.deepEqual({ ...probe.facts }, { containment: "none", uncontainedAllowed: false });
  await Promise.all([probe.ready(), probe.ready()]);
  assert.deepEqual({ ...probe.facts }, { containment: "full", uncontainedAllowed: false });
  assert.equal(looks, 1);
});

it("lets commands run uncontained where the user chose so", () => {
  const probe = async (): Promise<{ driver: SandboxDriver; reasons: string[] }> => ({ driver, reasons: [] });
  assert.equal(createContainmentProbe("off", probe).facts.uncontainedAllowed, true);
  assert.equal(createContainmentProbe("preferred", probe).facts.uncontainedAllowed, true);
});
