import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, it } from "node:test";
import * as sandboxes from "@lathe/sandbox";
import { sessionNetwork, withRegistries } from "./session-network.ts";

const cwd = mkdtempSync(join(tmpdir(), "lathe-network-"));
after(() => rmSync(cwd, { recursive: true, force: true }));

it("takes `registry` for the registries of the package managers whose files are there", () => {
  assert.deepEqual(withRegistries(["a.example", "registry"], cwd, sandboxes), ["a.example"]);
  for (const name of ["package.json", "Cargo.toml"]) writeFileSync(join(cwd, name), "");
  const hosts = withRegistries(["a.example", "registry"], cwd, sandboxes);
  assert.deepEqual(hosts.slice(0, 2), ["a.example", "registry.npmjs.org"]);
  assert.ok(hosts.includes("index.crates.io") && !hosts.includes("pypi.org"));
  assert.ok(hosts.every((host) => "host" in sandboxes.parseHostRule(host)));
});

it("gives the sandbox the hosts that rules name, and what bars them", () => {
  const rules = [
    { name: "a", verdict: "allow", kinds: ["network"], target: "a.example" },
    { name: "b", verdict: "deny", kinds: ["network"], target: "b.*" },
  ] as const;
  const network = sessionNetwork({ rules, mode: "auto", cwd }, () => undefined, sandboxes);
  assert.deepEqual([network.hosts, network.bars?.("b.example", true)], [["a.example"], true]);
});
