import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, it } from "node:test";
import { isFailure } from "@lathe/protocol";
import type { Config } from "./config.ts";
import { type ConfigFlags, loadConfig } from "./load-config.ts";

let root: string;
let env: NodeJS.ProcessEnv;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "lathe-config-"));
  mkdirSync(join(root, "config", "lathe"), { recursive: true });
  env = { XDG_CONFIG_HOME: join(root, "config") };
});
afterEach(() => rmSync(root, { recursive: true }));

const project = (value: object): void => writeFileSync(join(root, "lathe.json"), JSON.stringify(value));
const user = (value: object): void =>
  writeFileSync(join(root, "config", "lathe", "config.json"), JSON.stringify(value));

async function load(flags: ConfigFlags = {}): Promise<Config> {
  const config = await loadConfig(root, env, flags);
  if (isFailure(config)) throw new Error(config.text);
  return config;
}

it("has defaults without any file, and is frozen", async () => {
  const config = await load();
  assert.deepEqual(config, { models: [], mode: "auto", limits: {}, rules: [], sandbox: true, providers: {} });
  assert.ok(Object.isFrozen(config));
});

it("lets each later source choose the model", async () => {
  project({ model: "p/1" });
  assert.deepEqual((await load()).models, ["p/1"]);
  user({ model: ["u/1", "u/2"] });
  assert.deepEqual((await load()).models, ["u/1", "u/2"]);
  env = { ...env, LATHE_MODEL: "e/1, e/2" };
  assert.deepEqual((await load()).models, ["e/1", "e/2"]);
  assert.deepEqual((await load({ model: "f/1" })).models, ["f/1"]);
});

it("lets a project tighten the mode, never loosen it; the command line decides", async () => {
  project({ mode: "read-only" });
  assert.equal((await load()).mode, "read-only");
  project({ mode: "auto" });
  user({ mode: "ask" });
  assert.equal((await load()).mode, "ask");
  assert.equal((await load({ mode: "plan" })).mode, "plan");
});

it("takes the lower of each limit, unless the command line sets it", async () => {
  project({ limits: { steps: 500, cost: 1 } });
  user({ limits: { steps: 50 } });
  assert.deepEqual((await load()).limits, { steps: 50, cost: 1 });
  assert.deepEqual((await load({ limits: { cost: 9 } })).limits, { steps: 50, cost: 9 });
});

it("joins the rules, and makes rules of what the line allows", async () => {
  project({ rules: [{ name: "p", verdict: "deny", kinds: ["network"] }] });
  user({ rules: [{ name: "u", verdict: "allow" }] });
  const { rules } = await load({ allow: ["npm test"] });
  assert.deepEqual(
    rules.map(({ name, verdict, target }) => [name, verdict, target]),
    [
      ["--allow", "allow", "npm test"],
      ["u", "allow", undefined],
      ["p", "deny", undefined],
    ],
  );
});

it("refuses what a project may not set", async () => {
  for (const value of [
    { providers: {} },
    { sandbox: false },
    { rules: [{ name: "x", verdict: "allow" }] },
    { apiKey: "x" },
  ]) {
    project(value);
    const config = await loadConfig(root, env, {});
    assert.ok(isFailure(config));
    assert.equal(config.code, "config-invalid");
    assert.match(config.text, /lathe\.json: /);
  }
});
