/** What the probe says of this machine, and of machines that lack something. */
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { probeDriver } from "./probe.ts";

describe("probe", () => {
  const folder = mkdtempSync(join(tmpdir(), "lathe-probe-test-"));
  after(() => rmSync(folder, { recursive: true, force: true }));

  it("is quick where bubblewrap is missing, and says how to get it", async () => {
    const from = performance.now();
    const { driver, reasons, tiers } = await probeDriver({ path: folder });
    const ms = performance.now() - from;
    assert.equal(driver.name, "none");
    assert.match(reasons.join(), /bwrap\) is not installed\..*Install it/);
    assert.deepEqual(
      tiers.map(({ name, works }) => ({ name, works })),
      [
        { name: "bubblewrap", works: false },
        { name: "none", works: true },
      ],
    );
    // The bar is 10 ms on a quiet machine.
    assert.ok(ms < 50, `${ms} ms`);
  });

  it("never chooses a bubblewrap that does not start commands", async () => {
    const broken = mkdtempSync(join(folder, "broken-"));
    symlinkSync("/bin/false", join(broken, "bwrap"));
    const { driver, reasons } = await probeDriver({ path: broken, cacheFolder: join(folder, "cache-a") });
    assert.equal(driver.name, "none");
    assert.match(reasons.join(), /does not work here/);
    assert.equal(existsSync(join(folder, "cache-a")), false);
  });

  it("never chooses a bubblewrap that only pretends to hold writes in", async () => {
    const pretending = mkdtempSync(join(folder, "pretending-"));
    const script = `#!/bin/bash
while [ "$1" != -- ]; do [ "$1" = --chdir ] && cd "$2"; shift; done
shift
echo '{ "child-pid": 1 }' >&3
"$@"; code=$?
echo '{ "exit-code": 0 }' >&3
exit $code
`;
    writeFileSync(join(pretending, "bwrap"), script, { mode: 0o755 });
    const { driver, reasons } = await probeDriver({ path: pretending });
    assert.equal(driver.name, "none");
    assert.match(reasons.join(), /does not hold writes in/);
  });

  it("does as it is told where no sandbox is wanted", async () => {
    const { driver, tiers } = await probeDriver({ preference: "none" });
    assert.deepEqual([driver.name, tiers.length], ["none", 1]);
  });

  it("remembers what works until the next boot", async (context) => {
    const cacheFolder = join(folder, "cache-b");
    const first = await probeDriver({ cacheFolder });
    if (first.driver.name === "none") {
      context.skip(`no bubblewrap: ${first.reasons.join(" ")}`);
      return;
    }
    const file = join(cacheFolder, "sandbox-probe.json");
    const known = JSON.parse(readFileSync(file, "utf8"));
    assert.equal((await probeDriver({ cacheFolder })).driver.name, "bubblewrap");
    writeFileSync(file, JSON.stringify({ ...known, report: { works: false } }));
    assert.equal((await probeDriver({ cacheFolder })).driver.name, "none", "what is remembered is used");
    writeFileSync(file, JSON.stringify({ key: "another boot", report: { works: false } }));
    assert.equal((await probeDriver({ cacheFolder })).driver.name, "bubblewrap");
  });
});
