/** Settings in a project or a repository never count as the user's registries. */
import assert from "node:assert/strict";
import { mkdirSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { it } from "node:test";
import { registryKinds } from "../proxy/registry-hosts.ts";
import { ownRegistryHosts } from "./own-registry-hosts.ts";
import { projectFolders } from "./project-folders.ts";
import { openRegistryBench } from "./registry-bench.test.ts";

const at = openRegistryBench();

it("ignores a project's files, links to them, and variables that npm makes from them", () => {
  at.put(join(at.cwd, ".npmrc"), "registry=http://10.0.0.5/\nuserconfig=.npmrc\n");
  at.put(join(at.cwd, "pip.conf"), "[global]\nindex-url=http://10.0.0.5/simple\n");
  symlinkSync(join(at.cwd, ".npmrc"), join(at.home, ".npmrc"));
  const env = {
    npm_config_registry: "http://10.0.0.5/",
    npm_config_userconfig: join(at.cwd, ".npmrc"),
    NPM_CONFIG_USERCONFIG: join(at.cwd, ".npmrc"),
    PIP_CONFIG_FILE: join(at.cwd, "pip.conf"),
    CARGO_HOME: "relative",
  };
  assert.deepEqual([at.hosts(env), at.files(env)], [[], {}]);
  assert.deepEqual(at.hosts({ HOME: at.cwd }), [], "a home that is worked in");
});

/** Like the results of `git init` and `git worktree add`. */
const makeRepository = (top: string): void => at.put(join(top, ".git", "HEAD"), "ref: refs/heads/main\n");
const named = (folder: string): Readonly<Record<string, string>> => ({
  NPM_CONFIG_USERCONFIG: join(folder, ".npmrc"),
  PIP_CONFIG_FILE: join(folder, "pip.conf"),
  GOENV: join(folder, "goenv"),
  CARGO_HOME: join(folder, "cargo"),
});
const putAll = (folder: string, host: string): void => {
  at.put(join(folder, ".npmrc"), `registry=http://${host}/\n`);
  for (const path of ["pip.conf", "pip/pip.conf"])
    at.put(join(folder, path), `[global]\nindex-url=http://${host}/simple\n`);
  for (const path of ["goenv", "go/env"]) at.put(join(folder, path), `GOPROXY=http://${host}\n`);
  at.put(
    join(folder, "cargo", "config.toml"),
    `[source.crates-io]\nreplace-with = "a"\n[source.a]\nregistry = "sparse+http://${host}/"\n`,
  );
};

it("ignores a repository's files that variables name, from any folder in it", () => {
  const top = at.cwd;
  makeRepository(top);
  putAll(top, "10.0.0.5");
  for (const folder of [top, join(top, "sub"), join(at.home, "elsewhere")]) {
    mkdirSync(folder, { recursive: true });
    at.cwd = folder;
    assert.deepEqual([at.hosts(named(top)), at.files(named(top))], [[], {}], folder);
    assert.deepEqual(at.hosts({ XDG_CONFIG_HOME: top }), [], folder);
  }
  at.cwd = join(top, "sub");
  assert.deepEqual(at.hosts({ HOME: top, ...named(top) }), [], "a home that is the repository");
});

it("ignores the main checkout of a linked working tree", () => {
  const main = join(dirname(at.home), "main");
  makeRepository(main);
  at.put(join(main, ".git", "worktrees", "w", "commondir"), "../..\n");
  at.put(join(at.cwd, ".git"), `gitdir: ${join(main, ".git", "worktrees", "w")}\n`);
  putAll(main, "10.0.0.5");
  assert.deepEqual(at.hosts(named(main)), []);
  assert.deepEqual(at.hosts({ HOME: main }), []);
});

it("uses the user's own files wherever variables place them, also if their home is a repository", () => {
  const own = join(dirname(at.home), "settings");
  putAll(own, "10.0.0.6");
  assert.deepEqual(at.hosts(named(own)), ["10.0.0.6:80"]);
  at.put(join(at.home, ".npmrc"), "registry=http://10.0.0.7/\n");
  at.put(join(at.home, ".config", "pip", "pip.conf"), "[global]\nindex-url=http://10.0.0.8/simple\n");
  makeRepository(at.home);
  const standard = {
    NPM_CONFIG_USERCONFIG: join(at.home, ".npmrc"),
    XDG_CONFIG_HOME: join(at.home, ".config"),
  };
  assert.deepEqual(at.hosts(standard), ["10.0.0.7:80", "10.0.0.8:80"]);
  at.cwd = join(at.home, "work");
  mkdirSync(at.cwd);
  assert.deepEqual(projectFolders(at.cwd, [], at.home), [at.cwd], "a repository around the user's home");
  assert.deepEqual(projectFolders(at.cwd, [], "/nobody"), [at.cwd, at.home]);
});

it("ignores other project folders in use", () => {
  const suite = join(dirname(at.home), "suite");
  putAll(suite, "10.0.0.5");
  const place = { cwd: at.cwd, env: { HOME: at.home, ...named(suite) } };
  assert.equal(ownRegistryHosts(registryKinds, place).length, 1);
  assert.deepEqual(ownRegistryHosts(registryKinds, { ...place, projects: [suite] }), []);
});
