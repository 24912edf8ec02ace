/** What a command leaves for programs of the host to run is taken back, and nothing else is. */
import assert from "node:assert/strict";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, describe, it } from "node:test";
import { hostRunFiles, watchHostRun } from "./host-run.ts";

describe("what the host runs", () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "lathe-host-run-")));
  after(() => rmSync(folder, { recursive: true, force: true }));
  let made = 0;
  const workspace = (files: Readonly<Record<string, string>> = {}): string => {
    const root = join(folder, String(++made));
    mkdirSync(root);
    write(root, files);
    return root;
  };
  const write = (root: string, files: Readonly<Record<string, string>>): void => {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(root, name)), { recursive: true });
      writeFileSync(join(root, name), text);
    }
  };

  it("is guarded where it is, with its folder", () => {
    const root = workspace({ ".envrc": "", ".vscode/tasks.json": "{}" });
    assert.deepEqual(hostRunFiles(root), {
      folders: [join(root, ".vscode")],
      files: [join(root, ".envrc"), join(root, ".vscode/tasks.json")],
    });
  });

  it("is removed when it was not there before, and nothing else is", () => {
    const root = workspace({ ".git/config": "", ".envrc": "mine" });
    const takeBack = watchHostRun(root);
    write(root, {
      ".git/commondir": "../evil",
      ".mcp.json": "{}",
      ".vscode/tasks.json": "{}",
      ".envrc": "x",
      a: "",
    });
    assert.deepEqual(takeBack(), [".mcp.json", ".vscode/tasks.json", ".git/commondir"]);
    assert.deepEqual([existsSync(join(root, ".mcp.json")), existsSync(join(root, "a"))], [false, true]);
    assert.equal(existsSync(join(root, ".envrc")), true);
    assert.deepEqual(takeBack(), []);
  });

  it("is not there where a file stands in for its folder", () => {
    const root = workspace({ ".git": "gitdir: elsewhere", ".vscode": "", ".claude": "" });
    assert.deepEqual(watchHostRun(root)(), []);
    assert.deepEqual(hostRunFiles(root), { folders: [], files: [] });
  });

  it("is never looked for behind a link that leads out", () => {
    const root = workspace();
    const outside = workspace({
      "settings.json": "mine",
      "pre-push": "mine",
      config: "[core]\n\tpager = mine\n",
    });
    const first = watchHostRun(root);
    symlinkSync(outside, join(root, ".claude"));
    assert.deepEqual(first(), [".claude"]);
    const second = watchHostRun(root);
    mkdirSync(join(root, ".git"));
    symlinkSync(outside, join(root, ".git/hooks"));
    symlinkSync(join(outside, "config"), join(root, ".git/config"));
    assert.deepEqual(second(), [".git/hooks", ".git/config"]);
    assert.deepEqual(readdirSync(outside).toSorted(), ["config", "pre-push", "settings.json"]);
    assert.match(readFileSync(join(outside, "config"), "utf8"), /mine/);
  });

  it("a new repository keeps all that git itself writes", () => {
    const root = workspace();
    const takeBack = watchHostRun(root);
    const config = `[core]
	repositoryformatversion = 0
	filemode = true
	bare = false
[remote "origin"]
	url = https://example.org/a.git
	fetch = +refs/heads/*:refs/remotes/origin/*
[branch "main"]
	remote = origin
	merge = refs/heads/main
`;
    write(root, {
      ".git/config": config,
      ".git/hooks/pre-commit.sample": "",
      ".git/HEAD": "ref: refs/heads/main\n",
    });
    assert.deepEqual(takeBack(), []);
    assert.equal(readFileSync(join(root, ".git/config"), "utf8"), config);
  });

  it("a new repository loses its hooks, and settings that name programs", () => {
    const root = workspace();
    const takeBack = watchHostRun(root);
    const config = `[core]
	bare = false
	fsmonitor = ./evil
[alias] st = !evil
	x = y
[include]
	path = ../evil
[remote "o"]
	url = ext::evil
	fetch = a \\
[core] sshCommand = evil
`;
    write(root, { ".git/config": config, ".git/hooks/post-checkout": "evil", ".git/commondir": "../evil" });
    const taken = takeBack().join();
    for (const name of ["hooks/post-checkout", "core.fsmonitor", "include.path", "remote.url", "commondir"]) {
      assert.ok(taken.includes(name), `${name} in ${taken}`);
    }
    assert.doesNotMatch(readFileSync(join(root, ".git/config"), "utf8"), /evil|alias|=\s*y/);
    assert.equal(existsSync(join(root, ".git/hooks/post-checkout")), false);
  });

  it("a pointer or a link in place of .git goes, and so does a bare repository", () => {
    const pointed = workspace();
    const first = watchHostRun(pointed);
    write(pointed, { ".git": "gitdir: evil\n" });
    assert.deepEqual(first(), [".git"]);
    const linked = workspace({ "evil/HEAD": "" });
    const second = watchHostRun(linked);
    symlinkSync("evil", join(linked, ".git"));
    assert.deepEqual(second(), [".git"]);
    const bare = workspace();
    const third = watchHostRun(bare);
    write(bare, { HEAD: "ref: x", "objects/a": "", "refs/a": "", config: "[core]\n\tfsmonitor = evil\n" });
    assert.equal(third().length, 1);
    assert.equal(existsSync(join(bare, "HEAD")), false);
  });
});
