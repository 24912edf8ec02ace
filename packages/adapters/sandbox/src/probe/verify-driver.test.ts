/** Each working driver keeps its guarantees; without a sandbox the same trials find them broken. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { after, it } from "node:test";
import { isFailure } from "@lathe/protocol";
import { giveLauncher } from "../box/compiled-once.test.ts";
import { createNoneDriver } from "../drivers/none-driver.ts";
import { probeDriver } from "./probe.ts";
import { type PromiseResult, verifyDriver } from "./verify-driver.ts";

const cache = join(import.meta.dirname, "../../../../../node_modules/.cache");
mkdirSync(cache, { recursive: true });
const folder = mkdtempSync(join(cache, "lathe-verify-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const env = (scratch: string): Readonly<Record<string, string>> => ({
  PATH: process.env.PATH ?? "",
  HOME: `${scratch}/home`,
  TMPDIR: `${scratch}/tmp`,
});

for (const preference of ["launcher", "bubblewrap", "landlock"] as const) {
  it(`${preference} keeps all guarantees, and the trial leaves no files behind`, async (test) => {
    await giveLauncher(join(folder, "cache"));
    const { driver, reasons } = await probeDriver({
      preference,
      cacheFolder: join(folder, "cache"),
      network: { hosts: [] },
    });
    if (driver.name !== preference) return test.skip(reasons.join(" "));
    const tried = await verifyDriver(driver, { folder, env });
    assert.ok(!isFailure(tried));
    const broken = tried.filter(({ state }) => state === "broken");
    assert.deepEqual(broken, []);
    assert.ok(tried.filter(({ state }) => state === "holds").length > 10);
    const absent = tried.filter(({ state }) => state === "absent").length;
    assert.equal(absent > 0, driver.tier === "reduced");
    const proxied = tried.filter(({ text }) => text.includes("proxy")).map(({ state }) => state);
    const wanted = preference === "launcher" ? "holds" : "untried";
    assert.deepEqual(proxied, [wanted, wanted]);
    assert.deepEqual(
      readdirSync(folder).filter((name) => name.startsWith("verify-")),
      [],
    );
  });
}

it("without a sandbox guarantees are broken", async () => {
  const tried = await verifyDriver(createNoneDriver(), { folder, env });
  assert.ok(!isFailure(tried));
  const state = (words: string): PromiseResult["state"] | undefined =>
    tried.find(({ text }) => text.includes(words))?.state;
  for (const words of ["are not written", "are not read", "network", "processes are not seen", "hooks"]) {
    assert.equal(state(words), "broken", words);
  }
});
