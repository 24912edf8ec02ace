/** A task's files and set-up stay in its folder, and tasks that share a set-up do not disturb each other. */
import assert from "node:assert/strict";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, it } from "node:test";
import { isFailure } from "@lathe/protocol";
import type { Shell, ShellCommand } from "../shell.ts";
import type { Build, BuildStep } from "../tasks/dockerfile.ts";
import type { Task } from "../tasks/task.ts";
import { buildEnvironment, layerKeys } from "./build-environment.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "build-environment-"));
  for (const path of ["work", "victim", "task/environment"]) mkdirSync(join(root, path), { recursive: true });
  writeFileSync(join(root, "victim", "kept"), "kept");
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const put = (path: string, text: string): void => {
  const file = join(root, "task", "environment", path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
};
const link = (path: string, to: string): void => symlinkSync(to, join(root, "task", "environment", path));
const copy = (from: string, to: string): BuildStep => ({ type: "copy", from: [from], to });
const run = (script: string): BuildStep => ({ type: "run", script, workdir: "/app", env: {} });
const done = { code: 0, output: "", timedOut: false };
const still: Shell = async () => done;

/** Number of tasks with the same steps. */
let users = 2;

async function built(steps: readonly BuildStep[], shell: Shell = still, digest = "d") {
  const seconds = { agent: 1, verifier: 1, build: 1 };
  const task: Task = {
    name: "t",
    folder: join(root, "task"),
    digest,
    instruction: "",
    seconds,
    verifierEnv: {},
    protectTests: true,
    isMined: false,
  };
  const build: Build = { base: "node", workdir: "/app", env: {}, steps };
  const openShell = async () => ({ run: shell, close: async () => undefined });
  const layers = new Map(layerKeys(task, build).map((key) => [key, users]));
  const made = await buildEnvironment(task, build, {
    openShell,
    folder: join(root, "work"),
    path: "",
    layers,
  });
  assert.ok(!isFailure(made));
  return "why" in made ? made.why : made.app;
}

it("writes nothing through a link that leads out", async () => {
  mkdirSync(join(root, "task/environment/a"));
  link("a/x", join(root, "victim"));
  put("b/x/kept", "changed");
  put("one", "changed");
  assert.match(await built([copy("a", "/app/"), copy("b", "/app/")], still, "1"), /through a link/);
  assert.match(await built([copy("a", "/app/"), copy("one", "/app/x/kept")], still, "2"), /through a link/);
  const inside: BuildStep = { type: "run", script: "true", workdir: "/app/x/new", env: {} };
  assert.match(await built([copy("a", "/app/"), inside], still, "3"), /leads out/);
  assert.deepEqual(readdirSync(join(root, "victim")), ["kept"]);
  assert.equal(readFileSync(join(root, "victim", "kept"), "utf8"), "kept");
});

it("reads nothing through such a link", async () => {
  link("out", join(root, "victim"));
  assert.match(await built([copy("out/kept", "/app/")]), /leads out/);
});

it("copies links that stay inside, also over existing ones", async () => {
  put("a/real/f", "f");
  link("a/to", "real");
  const app = await built([copy("a", "/app/"), copy("a", "/app/")]);
  assert.equal(readFileSync(join(app, "to", "f"), "utf8"), "f");
});

it("refuses a folder that its set-up replaced by a link", async () => {
  put("a", "a");
  const evil = async ({ cwd }: ShellCommand) => {
    renameSync(cwd, `${cwd}-x`);
    symlinkSync(join(root, "victim"), cwd);
    return done;
  };
  assert.match(await built([run("mkdir x"), copy("a", "/app/")], evil), /in the place of its folder/);
  assert.match(await built([run("npm ci")], evil, "e"), /in the place of its folder/);
  assert.deepEqual(readdirSync(join(root, "victim")), ["kept"]);
});

it("builds tasks with the same installation concurrently", async () => {
  const install: Shell = async ({ cwd }) => {
    writeFileSync(join(cwd, "installed"), "");
    return done;
  };
  const all = ["1", "2", "3", "4"].map((digest) => built([run("npm ci")], install, digest));
  for (const app of await Promise.all(all)) assert.ok(existsSync(join(app, "installed")), app);
  const [key = ""] = readdirSync(join(root, "work", "layers"));
  assert.deepEqual(readdirSync(join(root, "work", "layers", key)), ["app"]);
});

it("does not cache a layer that no other task uses", async () => {
  users = 1;
  assert.ok(existsSync(await built([run("npm ci")])));
  users = 2;
  assert.ok(!existsSync(join(root, "work", "layers")));
});

it("gives each set-up a sandbox around only its own folder, and closes it", async () => {
  const opened: string[] = [];
  let open = 0;
  const openShell = async (folder: string) => {
    opened.push(folder);
    open++;
    return { run: still, close: async () => void open-- };
  };
  const steps = [run("mkdir a"), run("mkdir b")];
  const build: Build = { base: "node", workdir: "/app", env: {}, steps };
  const seconds = { agent: 1, verifier: 1, build: 1 };
  const builder = { openShell, folder: join(root, "work"), path: "", layers: new Map<string, number>() };
  for (const digest of ["1", "2"]) {
    const task: Task = {
      name: "t",
      folder: join(root, "task"),
      digest,
      instruction: "",
      seconds,
      verifierEnv: {},
      protectTests: true,
      isMined: false,
    };
    await buildEnvironment(task, build, builder);
  }
  assert.deepEqual(
    opened,
    ["1", "2"].map((digest) => join(root, "work", "environments", digest)),
  );
  assert.equal(open, 0);
});

it("explains why a folder cannot be made, and does not throw", async () => {
  writeFileSync(join(root, "work", "environments"), "");
  assert.match(await built([]), /cannot be made/);
});
