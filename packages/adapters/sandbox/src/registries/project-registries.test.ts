/** A project's registries: the hosts behind `registry`, and the user's own ones that commands can use. */
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, it } from "node:test";
import { parseHostRule } from "../proxy/host-rule.ts";
import { bringRegistries, withRegistries } from "./project-registries.ts";

const cwd = mkdtempSync(join(tmpdir(), "lathe-registries-"));
after(() => rmSync(cwd, { recursive: true, force: true }));

const env = { HOME: join(cwd, "nobody") };

it("expands `registry` to the registries of package managers with files in the project", async () => {
  assert.deepEqual(await withRegistries(["a.example", "registry"], { cwd, env }), ["a.example"]);
  for (const name of ["package.json", "Cargo.toml"]) writeFileSync(join(cwd, name), "");
  const hosts = await withRegistries(["a.example", "registry"], { cwd, env });
  assert.deepEqual(hosts.slice(0, 2), ["a.example", "registry.npmjs.org"]);
  assert.ok(hosts.includes("index.crates.io") && !hosts.includes("pypi.org"));
  assert.ok(hosts.every((host) => "host" in parseHostRule(host)));
});

it("reports unusable registries once, if the project uses their kind", async () => {
  const path = mkdtempSync(join(cwd, "scratch-"));
  writeFileSync(join(cwd, "package.json"), "");
  const remarks: string[] = [];
  const own = { NPM_CONFIG_REGISTRY: "http://localhost:4873/", PIP_INDEX_URL: "http://localhost:3141/" };
  const place = { cwd, env: { ...env, ...own }, onRemark: (text: string) => void remarks.push(text) };
  for (const isFound of [false, true]) await bringRegistries(place, { path, isFound });
  assert.equal(remarks.length, 1);
  assert.match(remarks[0] ?? "", /localhost:4873 of npm/);
  assert.doesNotMatch(remarks[0] ?? "", /3141/);
  assert.deepEqual(readdirSync(path), []);
});
