/** Files that a command leaves for host programs are reverted wherever they are; no other file is. */
import assert from "node:assert/strict";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, describe, it } from "node:test";
import { spelledRunLaterPaths } from "@lathe/testkit";
import { hostRunPaths } from "./host-run.ts";
import { WorkspaceWatch } from "./workspace-watch.ts";

type Files = Readonly<Record<string, string>>;

const config = `[core]
	repositoryformatversion = 0
	filemode = true
	bare = false
[remote "origin"]
	url = https://example.org/a.git
	fetch = +refs/heads/*:refs/remotes/origin/*
`;
const repository: Files = {
  ".git/HEAD": "ref: refs/heads/main\n",
  ".git/config": config,
  ".git/objects/x": "",
  ".git/refs/x": "",
};
const evil = `${config}[core]\n\tfsmonitor = ./evil\n`;

describe("the watch over a workspace", () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "lathe-watch-")));
  after(() => rmSync(folder, { recursive: true, force: true }));
  let made = 0;
  const write = (root: string, files: Files): void => {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(root, name)), { recursive: true });
      writeFileSync(join(root, name), text);
    }
  };
  const below = (name: string, files: Files): Files =>
    Object.fromEntries(Object.entries(files).map(([path, text]) => [`${name}/${path}`, text]));
  const open = (files: Files = {}) => {
    const root = join(folder, String(++made));
    const [workspace, control] = [join(root, "workspace"), join(root, "control")];
    for (const path of [workspace, control, join(root, "scratch")]) mkdirSync(path, { recursive: true });
    write(workspace, files);
    const options = { workspace, control, scratch: join(root, "scratch"), shown: ["/usr"], home: root };
    const watch = new WorkspaceWatch(options);
    return {
      root,
      workspace,
      control,
      watch,
      text: (name: string) => readFileSync(join(workspace, name), "utf8"),
    };
  };

  it("does not report harmless changes", () => {
    const { workspace, watch, text } = open({ ...repository, "a/b": "" });
    const end = watch.begin(["/opt/granted"]);
    const more = `${config}[branch "main"]\n\tremote = origin\n\tmerge = refs/heads/main\n`;
    write(workspace, { ".git/config": more, "a/c": "", ".git/hooks/pre-push.sample": "" });
    write(workspace, below("new", { ...repository, ".git/hooks/pre-commit.sample": "" }));
    symlinkSync("../a", join(workspace, "a/inside"));
    symlinkSync("/usr/bin/env", join(workspace, "a/program"));
    symlinkSync("/opt/granted/x", join(workspace, "a/granted"));
    assert.deepEqual(end(), []);
    assert.equal(text(".git/config"), more);
    assert.deepEqual(readdirSync(join(workspace, "a")).toSorted(), [
      "b",
      "c",
      "granted",
      "inside",
      "program",
    ]);
  });

  it("reverts settings once, and keeps the user's changes between commands", () => {
    const { workspace, watch, text } = open(repository);
    const end = watch.begin();
    write(workspace, {
      ".git/config": evil,
      ".git/config.worktree": "[core]\n\tpager = x\n",
      ".git/commondir": "../e",
    });
    assert.deepEqual(end(), [
      ".git/config (core.fsmonitor)",
      ".git/config.worktree (core.pager)",
      ".git/commondir",
    ]);
    assert.equal(text(".git/config"), config);
    assert.deepEqual(end(), []);
    write(workspace, { ".git/config": evil });
    assert.deepEqual(watch.begin()(), []);
    assert.equal(text(".git/config"), evil);
  });

  it("reverts files that settings name in a part of a repository, a linked working tree and its parts", () => {
    const named = `${config}[core]\n\thooksPath = sub/myhooks\n[filter "z"]\n\tclean = ./sub/f.sh\n`;
    const files = { "sub/myhooks/pre-commit": "mine", "sub/f.sh": "mine", "sub/deep/x": "" };
    const tree = { HEAD: "ref: refs/heads/w\n", commondir: "../..\n" };
    for (const [top, part] of [
      ["whole", "whole"],
      ["whole", "whole/sub"],
      ["linked", "linked/sub"],
      ["linked", "linked"],
    ] as const) {
      const { root, control } = open();
      write(join(root, "whole"), { ...repository, ...files, ".git/config": named });
      write(join(root, "whole/.git/worktrees/w"), { ...tree, gitdir: `${join(root, "linked/.git")}\n` });
      write(join(root, "linked"), { ...files, ".git": `gitdir: ${join(root, "whole/.git/worktrees/w")}\n` });
      const options = { control, scratch: join(root, "scratch"), shown: [], home: root };
      const end = new WorkspaceWatch({ ...options, workspace: join(root, part) }).begin();
      const evils = { "sub/myhooks/pre-commit": "evil", "sub/myhooks/pre-push": "evil", "sub/f.sh": "evil" };
      write(join(root, top), { ...evils, "sub/deep/x": "x" });
      assert.equal(end().length, 3, part);
      const now = (name: string): string => readFileSync(join(root, top, name), "utf8");
      assert.deepEqual(["sub/myhooks/pre-commit", "sub/f.sh", "sub/deep/x"].map(now), ["mine", "mine", "x"]);
      assert.equal(existsSync(join(root, top, "sub/myhooks/pre-push")), false);
    }
  });

  it("reverts every file that runs later, in every spelling", () => {
    const { workspace, watch } = open({ "packages/one/a": "" });
    const end = watch.begin();
    const paths = spelledRunLaterPaths().map(({ path }) => path);
    for (const path of paths) write(workspace, { [path]: "x" });
    const taken = new Set(end());
    assert.deepEqual(
      paths.filter((path) => !taken.has(path) || existsSync(join(workspace, path))),
      [],
    );
  });

  it("restores the user's own files that run later, in every spelling", async () => {
    const paths = spelledRunLaterPaths().map(({ path }) => path);
    const { workspace, watch, text } = open(Object.fromEntries(paths.map((path) => [path, "mine"])));
    const end = watch.begin();
    // The first command may end before the walk of a large workspace does.
    assert.deepEqual(end(), []);
    await watch.settle();
    const endNext = watch.begin();
    // No command can have changed a sealed file.
    const { sealed } = hostRunPaths(workspace);
    const loose = paths.filter(
      (path) => !sealed.some((one) => `${join(workspace, path)}/`.startsWith(`${one}/`)),
    );
    assert.ok(loose.length > paths.length / 2);
    for (const path of loose) write(workspace, { [path]: "x" });
    endNext();
    assert.deepEqual(
      paths.filter((path) => text(path) !== "mine"),
      [],
    );
  });

  it("reverts links in place of folders that lead to such files, and guards the targets of the user's links", () => {
    const { workspace, watch, text } = open({ "own/config.toml": "mine", "sub/editor/tasks.json": "mine" });
    symlinkSync("own", join(workspace, ".cargo"));
    symlinkSync("editor", join(workspace, "sub/.vscode"));
    const end = watch.begin();
    write(workspace, {
      "own/config.toml": "x",
      "own/other": "x",
      "sub/editor/tasks.json": "x",
      "sub/editor/launch.json": "x",
      "made/mise/config.toml": "x",
      "made/workflows/ci.yml": "x",
      "tool/mise": "x",
    });
    symlinkSync("made", join(workspace, ".config"));
    symlinkSync("tool/mise", join(workspace, "mise"));
    assert.deepEqual(
      end().toSorted(),
      [
        ".config",
        "made/mise/config.toml",
        "own/config.toml",
        "sub/editor/launch.json",
        "sub/editor/tasks.json",
      ].toSorted(),
    );
    assert.deepEqual([text("own/config.toml"), text("sub/editor/tasks.json")], ["mine", "mine"]);
    assert.equal(text("made/workflows/ci.yml"), "x");
    assert.equal(text("mise"), "x");
  });

  it("leaves files that are edited daily or written by installers", () => {
    const daily = [
      "package.json",
      "Makefile",
      ".github/workflows/ci.yml",
      "AGENTS.md",
      ".gitignore",
      ".pnp.cjs",
    ];
    const installed = [
      ".yarn/cache/a.zip",
      ".yarn/install-state.gz",
      "node_modules/a/index.js",
      ".cargo/bin/x",
    ];
    const { workspace, watch, text } = open({ "src/hooks/a.ts": "" });
    const end = watch.begin();
    for (const path of [...daily, ...installed]) write(workspace, { [path]: "x" });
    assert.deepEqual(end(), []);
    for (const path of [...daily, ...installed]) assert.equal(text(path), "x", path);
  });

  it("follows no link in a file that it reverts", () => {
    const { root, workspace, watch, text } = open(repository);
    const outside = join(root, "outside");
    write(outside, { config: evil, "settings.json": "mine" });
    const end = watch.begin();
    rmSync(join(workspace, ".git/config"));
    symlinkSync(join(outside, "config"), join(workspace, ".git/config"));
    symlinkSync(outside, join(workspace, ".claude"));
    symlinkSync(outside, join(workspace, ".agents"));
    mkdirSync(join(workspace, "sub"));
    symlinkSync(outside, join(workspace, "sub/.git"));
    symlinkSync(outside, join(workspace, "sub/out"));
    assert.deepEqual(
      end().toSorted(),
      [".agents", ".claude", ".git/config", "sub/.git", "sub/out (a link out of the workspace)"].toSorted(),
    );
    assert.deepEqual([watch.takeLinks(), watch.takeLinks()], [["sub/out"], []]);
    assert.equal(text(".git/config"), config);
    assert.equal(lstatSync(join(workspace, ".git/config")).isFile(), true);
    assert.deepEqual(readdirSync(outside).toSorted(), ["config", "settings.json"]);
    assert.equal(readFileSync(join(outside, "config"), "utf8"), evil);
  });

  it("finds repositories below: existing, new, bare and pointed-at ones", () => {
    const { workspace, watch, text } = open({
      ...repository,
      ...below("vendor/old", { ...repository, ".git/hooks/pre-commit": "mine" }),
    });
    const end = watch.begin();
    write(workspace, below("vendor/old", { ".git/hooks/pre-commit": "evil", ".git/hooks/pre-push": "evil" }));
    write(workspace, { "vendor/old/.git/config": evil });
    write(workspace, below("new", { ...repository, ".git/config": evil, ".git/hooks/post-merge": "evil" }));
    write(workspace, { "bare/HEAD": "ref: x", "bare/objects/x": "", "bare/refs/x": "", "bare/config": evil });
    write(workspace, {
      "data/config": evil,
      "pointed/.git": "gitdir: ../data\n",
      "away/.git": "gitdir: /etc\n",
    });
    const taken = end();
    for (const name of ["vendor/old/.git/config", "new/.git/config", "bare/config", "data/config"]) {
      assert.ok(taken.includes(`${name} (core.fsmonitor)`), `${name} in ${taken.join()}`);
      assert.doesNotMatch(text(name), /fsmonitor/u);
    }
    assert.equal(text("vendor/old/.git/hooks/pre-commit"), "mine");
    assert.deepEqual(readdirSync(join(workspace, "vendor/old/.git/hooks")), ["pre-commit"]);
    assert.deepEqual(readdirSync(join(workspace, "new/.git/hooks")), []);
    assert.equal(existsSync(join(workspace, "away/.git")), false);
    assert.equal(existsSync(join(workspace, "pointed/.git")), true);
  });

  it("is not misled by files that an earlier command prepared", () => {
    const { workspace, watch } = open();
    const first = watch.begin();
    write(workspace, { "a/config": evil, "a/objects/x": "", "a/refs/x": "", "a/hooks/pre-commit": "evil" });
    write(workspace, { "b/tasks.json": "evil", c: "evil" });
    assert.deepEqual(first(), []);
    const second = watch.begin();
    write(workspace, { "a/HEAD": "ref: refs/heads/main\n" });
    mkdirSync(join(workspace, "d"));
    renameSync(join(workspace, "b"), join(workspace, "d/.vscode"));
    renameSync(join(workspace, "c"), join(workspace, "d/.envrc"));
    assert.deepEqual(second().toSorted(), [
      "a/config (core.fsmonitor)",
      "a/hooks/pre-commit",
      "d/.envrc",
      "d/.vscode/tasks.json",
    ]);
  });

  it("trusts no file from a folder that it could not read", {
    skip: process.getuid?.() === 0 && "root looks everywhere",
  }, () => {
    const { workspace, watch, text } = open({ a: "" });
    const first = watch.begin();
    write(workspace, below("shut/repository", { ...repository, ".git/config": evil }));
    chmodSync(join(workspace, "shut"), 0);
    assert.deepEqual(first(), []);
    const second = watch.begin();
    chmodSync(join(workspace, "shut"), 0o755);
    assert.deepEqual(second(), ["shut/repository/.git/config (core.fsmonitor)"]);
    assert.equal(text("shut/repository/.git/config"), config);
  });

  it("rejects a pointer that goes through a link", () => {
    const { workspace, watch } = open({ "data/HEAD": "" });
    const end = watch.begin();
    symlinkSync("data", join(workspace, "link"));
    write(workspace, { "sub/.git": "gitdir: ../link\n" });
    assert.deepEqual(end(), ["sub/.git"]);
  });

  it("reverts files that editors, agents and Lathe obey, at any depth", () => {
    const { workspace, watch, text } = open({ "packages/one/.envrc": "mine" });
    const end = watch.begin();
    const names = [".idea/runConfigurations/x.xml", ".lathe/rules.json", "lathe.json", "x.code-workspace"];
    const nested = [".mcp.json", "packages/two/.vscode/settings.json", "packages/one/.envrc"];
    for (const name of [...names, ...nested]) write(workspace, { [name]: "evil" });
    assert.deepEqual(end().toSorted(), [...names, ...nested].toSorted());
    assert.equal(text("packages/one/.envrc"), "mine");
    assert.equal(existsSync(join(workspace, "packages/two/.vscode")), false);
  });

  it("copes with many files", () => {
    const { workspace, watch } = open(below("a", repository));
    const end = watch.begin();
    for (let at = 0; at < 1_000; at++) write(workspace, { [`a/.git/hooks/x${at}`]: "" });
    assert.equal(end().length, 1_000);
    assert.deepEqual(readdirSync(join(workspace, "a/.git/hooks")), []);
  });

  it("guards the files that settings in the workspace already name", () => {
    const own = `${config}[core]\n\thooksPath = .husky/_\n[include]\n\tpath = ../more.ini\n[filter "f"]\n\tclean = tools/f.sh %f\n`;
    const files = {
      ".husky/_/pre-commit": "mine",
      "more.ini": "[color]\n\tui = auto\n",
      "tools/f.sh": "mine",
    };
    const { workspace, watch, text } = open({ ...repository, ".git/config": own, ...files });
    const end = watch.begin();
    write(workspace, { ".husky/_/pre-commit": "evil", ".husky/_/commit-msg": "evil", "tools/f.sh": "evil" });
    write(workspace, { "more.ini": "[color]\n\tui = auto\n[core]\n\tfsmonitor = x\n", ".git/config": own });
    const expected = [
      ".husky/_/commit-msg",
      ".husky/_/pre-commit",
      "more.ini (core.fsmonitor)",
      "tools/f.sh",
    ];
    assert.deepEqual(end().toSorted(), expected);
    assert.equal(text(".husky/_/pre-commit"), "mine");
    assert.equal(text("more.ini"), files["more.ini"]);
  });

  it("lets a removed file return unchanged", () => {
    const { workspace, watch } = open({ "a/.vscode/settings.json": "mine" });
    const first = watch.begin();
    rmSync(join(workspace, "a"), { recursive: true });
    assert.deepEqual(first(), []);
    const second = watch.begin();
    write(workspace, { "a/.vscode/settings.json": "mine" });
    assert.deepEqual(second(), []);
    assert.equal(existsSync(join(workspace, "a/.vscode/settings.json")), true);
  });

  it("also checks while another command runs", () => {
    const { workspace, watch, text } = open(repository);
    const long = watch.begin();
    write(workspace, { ".git/config": evil });
    const short = watch.begin();
    assert.equal(text(".git/config"), config);
    assert.deepEqual(short(), [".git/config (core.fsmonitor)"]);
    write(workspace, { "x/.envrc": "evil" });
    assert.deepEqual(long(), ["x/.envrc"]);
  });

  it("finishes the walk of a large workspace", async () => {
    const files = Object.fromEntries(Array.from({ length: 3_000 }, (_, at) => [`f${at % 60}/g${at}/x`, ""]));
    const { workspace, watch } = open(files);
    const end = watch.begin();
    write(workspace, { "f59/g59/deep/.envrc": "evil" });
    end();
    await watch.settle();
    assert.equal(existsSync(join(workspace, "f59/g59/deep/.envrc")), false);
  });
});
