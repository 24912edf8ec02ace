/** Tests that git on the host runs no program of a repository, whichever of its files names the program. */
import assert from "node:assert/strict";
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { runGitIn } from "@lathe/testkit";
import { filterConfig, type HostilePlace, openHostilePlace } from "./hostile-place.ts";

describe("opening a hostile repository", () => {
  let at: HostilePlace;
  beforeEach(async () => {
    at = await openHostilePlace();
    at.put("a.txt", "a\n");
    at.put(".gitattributes", "* filter=e diff=e merge=e\n");
    commitAll(at.workspace);
  });
  afterEach(() => at.close());

  const path = (name: string): string => join(at.workspace, name);
  /** Same size, different time: git must read the file through the filter. */
  const touch = (folder = at.workspace): void => utimesSync(join(folder, "a.txt"), 1, 1);
  const config = (text: string, file = ".git/config"): void => appendFileSync(path(file), text);
  const nothingRan = (): void => assert.deepEqual(at.ran(), []);

  it("B2: that names a clean filter in its configuration", async () => {
    config(filterConfig(at.canary("clean")));
    touch();
    assert.equal((await at.hello()).code, 0);
    nothingRan();
  });

  it("B2: that is a bare repository in a subfolder of a clone", async () => {
    plantBare("pkg", at.canary("bare"));
    assert.equal((await at.hello(["--cwd", "pkg"])).code, 0);
    nothingRan();
  });

  it("B12: when policy check looks for uncommitted changes", async () => {
    config(filterConfig(at.canary("check")));
    touch();
    assert.equal((await at.run(["policy", "check", "git reset --hard"])).code, 0);
    nothingRan();
  });

  it("B1: made by a model that only writes files", async () => {
    rmSync(path(".git"), { recursive: true });
    const written =
      `[core]\n\trepositoryformatversion = 1\n\tbare = false\n\tworktree = .\n\tsshCommand = ${at.canary("written")} now\n` +
      '[extensions]\n\tpartialClone = origin\n[remote "origin"]\n\turl = ssh://x/y\n\tpromisor = true\n';
    const files = {
      HEAD: `${"1".repeat(40)}\n`,
      "objects/info/packs": "\n",
      "refs/heads/.keep": "\n",
      config: written,
    };
    at.answers(
      ...Object.entries(files).map(([name, content]) => ["write", { path: name, content }] as const),
      ["shell", { command: "git reset --hard HEAD" }],
    );
    await at.hello();
    await at.hello();
    nothingRan();
  });

  it("that names another git folder of the workspace in a .git file", async () => {
    renameSync(path(".git"), path("inner"));
    writeFileSync(path(".git"), "gitdir: ./inner\n");
    config(filterConfig(at.canary("gitfile")), "inner/config");
    touch();
    assert.equal((await at.hello()).code, 0);
    nothingRan();
  });

  it("that shares a common folder of the workspace through a commondir file", async () => {
    cpSync(path(".git"), path("common"), { recursive: true });
    writeFileSync(path(".git/commondir"), "../common\n");
    config(filterConfig(at.canary("commondir")), "common/config");
    touch();
    assert.equal((await at.hello()).code, 0);
    nothingRan();
  });

  it("that names another repository of the user as its common folder", async () => {
    const own = join(at.outside, "own");
    mkdirSync(own);
    writeFileSync(join(own, "f.ts"), `${at.secret}\n`);
    commitAll(own);
    at.rememberOutside();
    writeFileSync(path(".git/commondir"), `${own}/.git\n`);
    at.answers(["shell", { command: "cat f.ts" }]);
    const { code, out, err } = await at.hello(["--worktree", "--dirty", "leave"]);
    assert.equal(code, 2);
    at.assertOutsideUntouched(out, err);
  });

  it("with a configuration for this worktree alone", async () => {
    config("[core]\n\trepositoryformatversion = 1\n[extensions]\n\tworktreeConfig = true\n");
    writeFileSync(path(".git/config.worktree"), filterConfig(at.canary("config.worktree")));
    touch();
    assert.equal((await at.hello()).code, 0);
    nothingRan();
  });

  it("with a submodule whose own configuration names a filter", async () => {
    const lib = join(at.home, "lib");
    mkdirSync(lib);
    writeFileSync(join(lib, "a.txt"), "a\n");
    writeFileSync(join(lib, ".gitattributes"), "* filter=e\n");
    commitAll(lib);
    at.git("submodule", "--quiet", "add", lib, "lib");
    at.git("commit", "-qm", "lib");
    config(filterConfig(at.canary("module")), ".git/modules/lib/config");
    touch(path("lib"));
    assert.equal((await at.hello()).code, 0);
    nothingRan();
  });

  it("with another repository that only its index knows", async () => {
    mkdirSync(path("dep"));
    writeFileSync(path("dep/a.txt"), "a\n");
    writeFileSync(path("dep/.gitattributes"), "* filter=e\n");
    commitAll(path("dep"));
    at.git("add", "dep");
    at.git("commit", "-qm", "dep");
    config(filterConfig(at.canary("gitlink")), "dep/.git/config");
    touch(path("dep"));
    assert.equal((await at.hello()).code, 0);
    nothingRan();
  });

  it("that includes a file of the worktree, which the model may write", async () => {
    // Teams share settings this way. Only the person's own git obeys them, when the person runs it.
    config("[include]\n\tpath = ../tools/gitconfig\n");
    at.answers(["write", { path: "tools/gitconfig", content: filterConfig(at.canary("include")) }]);
    await at.hello();
    touch();
    await at.hello();
    nothingRan();
  });

  it("that names a smudge filter, when the session gets a worktree", async () => {
    config(`[filter "e"]\n\tsmudge = ${at.canary("smudge")}\n\tprocess = ${at.canary("process")}\n`);
    await at.hello(["--no-sandbox", "--worktree"]);
    await at.hello(["--worktree=two"]);
    nothingRan();
  });

  it("that names a smudge filter, when attempts get worktrees", async () => {
    config(`[filter "e"]\n\tsmudge = ${at.canary("smudge")}\n`);
    at.put("package.json", '{"scripts":{"test":"node -e 0"}}');
    await at.hello(["--best-of", "2", "--worktree"]);
    nothingRan();
  });

  it("that names a merge driver and a diff driver, when the session's changes are shown", async () => {
    for (const [key, name] of [
      ['diff "e"', "command"],
      ['diff "e"', "textconv"],
      ['merge "e"', "driver"],
      ["diff", "external"],
    ] as const)
      config(`[${key}]\n\t${name} = ${at.canary(name)}\n`);
    at.answers(["write", { path: "new.txt", content: "new\n" }], ["shell", { command: "echo b > b.txt" }]);
    await at.hello();
    const { out } = await at.run(["sessions", "list", "--json"]);
    const [{ id = "" } = {}] = JSON.parse(out) as readonly { readonly id?: string }[];
    for (const words of [["diff"], ["rewind"]]) await at.run(["sessions", ...words, id]);
    nothingRan();
  });

  it("to work in another repository of the person, which gets no branch and no worktree", async () => {
    const other = join(dirname(at.workspace), "other");
    mkdirSync(other);
    writeFileSync(join(other, "a.txt"), "a\n");
    commitAll(other);
    config(`[core]\n\tworktree = ${other}\n`);
    await at.hello(["--no-sandbox", "--worktree=one"]);
    assert.equal(runGitIn(other, "branch", "--list", "lathe/*"), "");
    assert.ok(!existsSync(`${other}.worktrees`));
  });

  it("without objects that its own command would fetch, when it is searched", async () => {
    makePartial(at.canary("fetch-search"));
    for (const words of [
      ["search", "what a does"],
      ["index"],
      ["tool", "search_code", "--json", '{"query":"what a does"}'],
    ])
      await at.run(words);
    nothingRan();
  });

  it("without objects that its own command would fetch, when it is measured", async () => {
    makePartial(at.canary("fetch-measure"));
    for (const words of [
      ["report"],
      ["report", "keep"],
      ["eval", "mine", ".", "--out", join(at.home, "mined")],
    ])
      await at.run(words);
    nothingRan();
  });

  it("without objects that its own command would fetch, when a worktree is made", async () => {
    makePartial(at.canary("fetch-tree"));
    await at.hello(["--no-sandbox", "--worktree"]);
    nothingRan();
  });

  it("that is the person's home: settings that the model writes there are not obeyed", async () => {
    const env = { HOME: at.workspace };
    const settings = '[filter "e"]\n\tclean = ';
    at.answers(
      ["write", { path: ".gitconfig", content: `${settings}${at.canary("gitconfig")}\n` }],
      ["write", { path: ".config/git/config", content: `${settings}${at.canary("xdg")}\n` }],
    );
    await at.hello([], env);
    touch();
    await at.hello([], env);
    nothingRan();
  });

  /** Removes object files whose remote is reached by a program. */
  function makePartial(program: string): void {
    config(
      `[core]\n\trepositoryformatversion = 1\n\tsshCommand = ${program}\n[extensions]\n\tpartialClone = origin\n` +
        '[remote "origin"]\n\turl = ssh://x/y\n\tpromisor = true\n',
    );
    writeFileSync(path("a.txt"), "another\n");
    at.git("commit", "-qam", "second");
    const tree = at.git("rev-parse", "HEAD^{tree}", "HEAD~1^{tree}", "HEAD:a.txt").trim().split("\n");
    for (const id of tree) rmSync(path(`.git/objects/${id.slice(0, 2)}/${id.slice(2)}`));
  }

  function plantBare(name: string, program: string): void {
    const made = join(dirname(at.workspace), "made");
    mkdirSync(made);
    writeFileSync(join(made, "a.txt"), "a\n");
    writeFileSync(join(made, ".gitattributes"), "* filter=e\n");
    commitAll(made);
    for (const part of ["HEAD", "index", "objects", "refs"])
      cpSync(join(made, ".git", part), path(`${name}/${part}`), { recursive: true });
    writeFileSync(path(`${name}/config`), filterConfig(program, "\tworktree = .\n"));
    for (const part of ["a.txt", ".gitattributes"]) cpSync(join(made, part), path(`${name}/${part}`));
    touch(path(name));
  }
});

function commitAll(folder: string): void {
  runGitIn(folder, "init", "-q", "-b", "main");
  runGitIn(folder, "add", "-A");
  runGitIn(folder, "commit", "-qm", "first");
}
