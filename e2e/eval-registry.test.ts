/**
 * Tests that a task's set-up installs from the registry in the user's own settings, never from one that a
 * project names.
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, it } from "node:test";
import { makePlace } from "./in-process.ts";
import type { Place } from "./lathe.ts";

let place: Place;
let server: Server;
let asked: string[];
let url: string;
beforeEach(async () => {
  place = makePlace();
  asked = [];
  const tarball = packed();
  const integrity = `sha512-${createHash("sha512").update(tarball).digest("base64")}`;
  server = createServer(({ url: path = "", headers }, response) => {
    asked.push(`${path} ${headers.authorization ?? ""}`.trim());
    if (path.endsWith(".tgz")) return response.end(tarball);
    const dist = { tarball: `${url}own-dep/-/own-dep-1.0.0.tgz`, integrity };
    const versions = { "1.0.0": { name: "own-dep", version: "1.0.0", dist } };
    return response.end(JSON.stringify({ name: "own-dep", "dist-tags": { latest: "1.0.0" }, versions }));
  });
  // A loopback address other than the one that commands have for themselves.
  server.listen(0, "127.0.0.2");
  await once(server, "listening");
  url = `http://127.0.0.2:${(server.address() as AddressInfo).port}/`;
});
afterEach(() => {
  server.close();
  place.remove();
});

function packed(): Buffer {
  const folder = join(place.workspace, "packed", "package");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), '{"name":"own-dep","version":"1.0.0"}');
  writeFileSync(join(folder, "index.js"), "module.exports = 7;\n");
  execFileSync("tar", ["-czf", "../own-dep.tgz", "package"], { cwd: join(folder, "..") });
  return readFileSync(join(folder, "..", "..", "own-dep.tgz"));
}

const putTask = (more: Readonly<Record<string, string>> = {}): void => {
  const files = {
    "instruction.md": "Do nothing.\n",
    "task.toml": 'version = "1.0"\n',
    "environment/Dockerfile":
      "FROM node:24\nWORKDIR /app\nCOPY project/ /app/\nRUN npm install --no-audit --no-fund --no-update-notifier --fetch-retries=0\n",
    "environment/project/package.json": '{"name":"p","dependencies":{"own-dep":"1.0.0"}}\n',
    "tests/test.sh":
      'cd /app && test "$(node -p \'require("own-dep")\')" = 7 && echo 1 > /logs/verifier/reward.txt\n',
    ...more,
  };
  for (const [path, text] of Object.entries(files)) place.put(`suite/one/${path}`, text);
};

const tried = async (env: Readonly<Record<string, string>> = {}) => {
  const { out, err } = await place.run(["eval", "suite", "--model", "nop", "--out", "a", "--json"], { env });
  return { agent: JSON.parse(out).agents[0], err };
};

it("installs from the registry in the user's own settings", async () => {
  writeFileSync(join(place.home, ".npmrc"), `registry=${url}\n`);
  putTask();
  const { agent, err } = await tried();
  assert.deepEqual([agent.solved, agent.trials, agent.notRun], [1, 1, []], err);
  assert.deepEqual(asked, ["/own-dep", "/own-dep/-/own-dep-1.0.0.tgz"]);
});

it("says that commands get no login for a registry, and sends it no request", async () => {
  writeFileSync(join(place.home, ".npmrc"), `registry=${url}\n//${url.slice(7)}:_authToken=hidden\n`);
  putTask();
  const { err } = await tried();
  assert.match(err, /the registry 127\.0\.0\.2:\d+ of npm wants a login, which commands are not given/);
  assert.doesNotMatch(err, /hidden/);
  assert.deepEqual(asked, []);
});

it("says that it skips a registry at an address of the commands' own, and sends it no request", async () => {
  writeFileSync(join(place.home, ".npmrc"), "registry=http://127.0.0.1:9/\n");
  putTask();
  const { agent, err } = await tried();
  assert.match(err, /the registry 127\.0\.0\.1:9 of npm is an address that commands have for themselves/);
  assert.doesNotMatch(agent.notRun[0].why, /127\.0\.0\.1:9|ECONNREFUSED/);
});

it("contacts no registry that a project's files name", async () => {
  putTask({ "environment/project/.npmrc": `registry=${url}\n` });
  place.put(".npmrc", `registry=${url}\n`);
  const { agent } = await tried({ NPM_CONFIG_USERCONFIG: join(place.workspace, ".npmrc") });
  assert.match(agent.notRun[0].why, /its set-up fails: npm install/);
  assert.deepEqual(asked, []);
});
