/**
 * The probe runner itself: it detects escapes, never rates a broken sandbox as tight, and leaves no files.
 */
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { failure, type SandboxDriver } from "@lathe/protocol";
import { escapeProbes, workProbes } from "../sandbox-probes.ts";
import { createBareDriver } from "./bare-driver.ts";
import type { Probe, ProbeResult } from "./probe.ts";
import { failureTable, scoreOf } from "./report.ts";
import { runProbes } from "./run-probes.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "lathe-run-probes-")));
const path = process.env.PATH ?? "";
const bare = createBareDriver(process.env);
const named = (...ids: readonly string[]): readonly Probe[] =>
  [...escapeProbes, ...workProbes].filter(({ id }) => ids.includes(id));
const run = (driver: SandboxDriver, probes: readonly Probe[]): Promise<readonly ProbeResult[]> => {
  const env = (scratch: string) => ({ PATH: path, HOME: `${scratch}/home`, TMPDIR: `${scratch}/tmp` });
  return runProbes(driver, { probes, folder, env, path });
};

describe("probe runner", { skip: process.platform !== "linux" && "the probes are written for Linux" }, () => {
  after(() => rmSync(folder, { recursive: true, force: true }));

  it("has enough probes, each with a unique name", () => {
    const ids = [...escapeProbes, ...workProbes].map(({ id }) => id);
    assert.equal(new Set(ids).size, ids.length);
    assert.ok(escapeProbes.length >= 90 && workProbes.length >= 45);
  });

  it("distinguishes escapes from working commands", async () => {
    const probes = named("write-absolute", "secret-ssh", "process-kill", "setuid-chmod", "work-here");
    const score = scoreOf(await run(bare, probes));
    assert.deepEqual(
      [[...score.escaped].sort(), [...score.grave].sort(), score.worked],
      [
        ["process-kill", "secret-ssh", "setuid-chmod", "write-absolute"],
        ["process-kill", "setuid-chmod", "write-absolute"],
        1,
      ],
    );
    assert.deepEqual(readdirSync(folder), []);
  });

  it("never runs a harmful probe without a sandbox", async () => {
    const [result] = await run(bare, named("call-hostname"));
    assert.equal(result?.outcome, "skipped");
  });

  it("rates a sandbox that does not start as broken, not as tight", async () => {
    const none = failure("sandbox-unavailable", "it does not start");
    const driver: SandboxDriver = { name: "dead", tier: "full", network: "closed", open: async () => none };
    const results = await run(driver, named("write-absolute", "work-here"));
    assert.deepEqual(
      results.map(({ outcome }) => outcome),
      ["broken", "failed"],
    );
    assert.match(failureTable(results), /^failed {2}work-here {7}the sandbox did not open/m);
  });
});
