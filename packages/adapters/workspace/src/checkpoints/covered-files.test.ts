/** The content of a checkpoint: which files, and their bytes regardless of git's settings. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { appendFileSync, existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, it } from "node:test";
import { datedTree, runGitIn, succeeded } from "@lathe/testkit";
import {
  committed,
  folder,
  newFolder,
  optionsFor,
  place,
  placeAt,
  put,
  putWith,
  repository,
} from "./checkpoint-place.test.ts";
import { openCheckpoints } from "./open-checkpoints.ts";

describe("coverage", () => {
  it("includes ignored files, but not ignored folders", async () => {
    const root = repository(newFolder());
    const { put, take, checkpoints, tree } = await placeAt(root);
    put(".gitignore", ".env\ntarget/\n/out/*\nsecrets/key\n*.log\n");
    put(".env", "secret", 0o600);
    put("secrets/key", "k");
    put("out/kept/a", "generated");
    put("logs/a.log", "l");
    put("target/big", "t");
    put("node_modules/m/index.js", "m");
    put("src/node_modules/m/index.js", "m");
    const { ref, skipped } = await take();
    assert.deepEqual(skipped.map(({ path, why }) => `${path} ${why}`).sort(), [
      "node_modules ignored",
      "out/kept ignored",
      "src/node_modules ignored",
      "target ignored",
    ]);
    const start = tree();
    for (const path of [".env", "secrets/key", "logs/a.log"]) rmSync(join(root, path));
    put("target/big", "other");
    put("target/new", "n");
    succeeded(await checkpoints.restore(ref, { session: "s1" }));
    const { "target/big": big, "target/new": made, ...rest } = tree();
    const { "target/big": old, ...expected } = start;
    assert.deepEqual(rest, expected);
    assert.ok(big !== old && made);
  });

  it("includes tracked files in ignored folders", async () => {
    const root = repository(newFolder());
    put(root, ".gitignore", "dist/\n");
    put(root, "dist/tracked.js", "t");
    put(root, "dist/sub/untracked.js", "u");
    runGitIn(root, "add", "-f", "dist/tracked.js");
    const { take, checkpoints } = await placeAt(root);
    const { ref } = await take();
    rmSync(join(root, "dist/tracked.js"));
    rmSync(join(root, "dist/sub/untracked.js"));
    succeeded(await checkpoints.restore(ref, { session: "s1" }));
    assert.ok(existsSync(join(root, "dist/tracked.js")));
    assert.equal(existsSync(join(root, "dist/sub/untracked.js")), false);
  });

  it("follows changed rules, and never deletes files that a checkpoint did not contain", async () => {
    const root = repository(newFolder());
    const { put, take, checkpoints } = await placeAt(root);
    put(".gitignore", "build/\n");
    put("build/a", "a");
    const before = await take();
    put(".gitignore", "");
    const open = await take();
    assert.equal(open.skippedCount, 0);
    const { left } = succeeded(await checkpoints.restore(before.ref, { session: "s1" }));
    assert.deepEqual(left, [{ path: "build", why: "ignored" }]);
    assert.equal(readFileSync(join(root, "build/a"), "utf8"), "a");
    put("deep/er/.gitignore", "gen/\n");
    put("deep/er/gen/x", "x");
    assert.equal((await take()).skippedCount, 2);
  });

  it("excludes large files, pipes and sockets, and a restore leaves them alone", async () => {
    const { root, put, take, checkpoints, tree } = await place({ limits: { maxFileBytes: 1_000 } });
    put("large", "x".repeat(1_001));
    put("small", "x".repeat(1_000));
    execFileSync("sh", ["-c", `mkfifo '${join(root, "pipe")}'`]);
    const server = createServer().listen(join(root, "socket"));
    await new Promise((resolve) => server.once("listening", resolve));
    const { ref, skipped } = await take();
    assert.deepEqual(skipped.map(({ path, why }) => `${path} ${why}`).sort(), [
      "large too-large",
      "pipe special",
      "socket special",
    ]);
    const start = tree();
    put("large", "now small");
    put("small", "x".repeat(2_000));
    put("new-large", "x".repeat(2_000));
    const { left } = succeeded(await checkpoints.restore(ref, { session: "s1" }));
    assert.deepEqual(left.map(({ path }) => path).sort(), ["large", "new-large", "small"]);
    assert.equal(readFileSync(join(root, "large"), "utf8"), "now small");
    rmSync(join(root, "new-large"));
    rmSync(join(root, "small"));
    put("large", "x".repeat(1_001));
    succeeded(await checkpoints.restore(ref, { session: "s1" }));
    assert.deepEqual(tree(), start);
    server.close();
  });

  it("includes nested repositories, submodules, worktrees and repositories without a commit", async () => {
    const library = committed(newFolder());
    const main = committed(newFolder());
    runGitIn(main, "-c", "protocol.file.allow=always", "submodule", "add", "-q", library, "sub");
    runGitIn(main, "commit", "-qam", "sub");
    runGitIn(main, "worktree", "add", "-q", "tree", "-b", "side");
    committed(join(main, "nested"));
    put(main, "nested/.gitignore", "gen/\n");
    put(main, "nested/gen/x", "x");
    repository(join(main, "empty"));
    put(main, "empty/new.txt", "n");
    const { take, checkpoints, tree } = await placeAt(main);
    const git = datedTree(join(main, ".git"));
    const { ref, skipped } = await take();
    assert.deepEqual(skipped, [{ path: "nested/gen", why: "ignored" }]);
    const start = tree();
    for (const at of ["sub", "tree", "nested", "."]) {
      rmSync(join(main, at, "a.txt"));
      put(main, `${at}/src/b.txt`, `changed in ${at}`);
      put(main, `${at}/created`, "c");
    }
    rmSync(join(main, "empty/new.txt"));
    succeeded(await checkpoints.restore(ref, { session: "s1" }));
    assert.deepEqual(tree(), start);
    assert.deepEqual(datedTree(join(main, ".git")), git);
    const inWorktree = await placeAt(join(main, "tree"));
    const side = await inWorktree.take();
    put(main, "tree/a.txt", "x");
    succeeded(await inWorktree.checkpoints.restore(side.ref, { session: "s1" }));
    assert.deepEqual(tree(), start);
  });

  it("includes a subfolder of a repository, under the rules of the folders above it", async () => {
    const root = repository(newFolder());
    put(root, ".gitignore", "gen/\n");
    put(root, "packages/a/gen/x", "x");
    put(root, "packages/a/src/x", "x");
    const { take, checkpoints } = await placeAt(join(root, "packages", "a"));
    assert.deepEqual((await take()).skipped, [{ path: "gen", why: "ignored" }]);
    put(root, ".gitignore", "");
    assert.equal((await take()).skippedCount, 0);
    assert.ok(checkpoints);
    // A repository further up that ignores everything, such as one for dotfiles in the home folder.
    put(root, ".gitignore", "*\n");
    assert.equal((await take()).skippedCount, 0);
  });

  it("includes a repository while git holds its locks", async () => {
    const root = committed(newFolder());
    for (const lock of ["index.lock", "HEAD.lock", "config.lock", "packed-refs.lock"])
      put(root, `.git/${lock}`, "");
    const { take, checkpoints } = await placeAt(root);
    const git = datedTree(join(root, ".git"));
    const { ref } = await take();
    put(root, "a.txt", "changed");
    succeeded(await checkpoints.restore(ref, { session: "s1" }));
    succeeded(await checkpoints.collect());
    assert.equal(readFileSync(join(root, "a.txt"), "utf8"), "a\n");
    assert.deepEqual(datedTree(join(root, ".git")), git);
  });

  it("includes a broken repository as a plain folder", async () => {
    const root = newFolder();
    put(root, ".git/HEAD", "nonsense");
    put(root, ".gitignore", "gen/\n");
    put(root, "gen/x", "x");
    put(root, "a", "a");
    const { take } = await placeAt(root);
    assert.deepEqual((await take()).skipped, [{ path: "gen", why: "ignored" }]);
  });

  it("includes a user's file whose name only starts like one of Lathe's", async () => {
    const { root, put, take, checkpoints, tree } = await place();
    put(".lathe-0123456789abnotes", "user's");
    put(".lathe-0123456789ab-x.tmp", "user's");
    put(".lathe-0123456789ab-7.tmp", "of a change under way");
    const { ref } = await take();
    const start = tree();
    for (const name of [".lathe-0123456789abnotes", ".lathe-0123456789ab-x.tmp"]) rmSync(join(root, name));
    const { changed } = succeeded(await checkpoints.restore(ref, { session: "s1" }));
    assert.deepEqual(changed, [".lathe-0123456789ab-x.tmp", ".lathe-0123456789abnotes"]);
    assert.deepEqual(tree(), start);
  });

  it("excludes Lathe's own files inside the folder", async () => {
    const root = newFolder();
    put(root, "a", "a");
    const options = optionsFor(root, join(root, "state"), { excluded: [join(root, "state")] });
    const checkpoints = succeeded(await openCheckpoints(options));
    const first = succeeded(await checkpoints.take("s1"));
    assert.deepEqual(first.skipped, [{ path: "state", why: "lathe" }]);
    assert.equal(succeeded(await checkpoints.take("s1")).ref, first.ref);
  });
});

describe("bytes", () => {
  it("are stored unchanged whatever attributes, configuration and hooks say", async () => {
    const root = committed(newFolder());
    const trace = join(root, "..", "hook-ran");
    const hook = `#!/bin/sh\necho ran >> '${trace}'\ncat\n`;
    putWith(0o755)(root, "hook.sh", hook);
    for (const name of readdirSync(join(root, ".git/hooks"))) rmSync(join(root, ".git/hooks", name));
    for (const name of ["pre-commit", "post-index-change", "reference-transaction", "post-checkout"]) {
      putWith(0o755)(root, `.git/hooks/${name}`, hook);
    }
    appendFileSync(
      join(root, ".git/config"),
      `[core]\n\tautocrlf = true\n\teol = crlf\n\tfsmonitor = ${join(root, "hook.sh")}\n\tsafecrlf = true\n[commit]\n\tgpgSign = true\n[gpg]\n\tprogram = ${join(root, "hook.sh")}\n[filter "f"]\n\tclean = ${join(root, "hook.sh")}\n\tsmudge = ${join(root, "hook.sh")}\n\trequired = true\n`,
    );
    put(
      root,
      ".gitattributes",
      "*.txt text eol=crlf\n*.id ident\n*.f filter=f\n*.utf working-tree-encoding=UTF-16\n*.ex export-subst\n*.lfs filter=lfs diff=lfs merge=lfs -text\n",
    );
    const contents = {
      "lf.txt": "a\nb\n",
      "crlf.txt": "a\r\nb\n\r\n",
      "x.id": "$Id: kept $\n$Id$\n",
      "x.f": "filtered\n",
      "x.utf": "utf",
      "x.ex": "$Format:%H$",
      "x.lfs": "large",
      bom: "\uFEFFx",
    };
    for (const [name, text] of Object.entries(contents)) put(root, name, text);
    const hostile = join(folder, "hostile-home");
    put(
      hostile,
      ".gitconfig",
      "[core]\n\tautocrlf = true\n\thooksPath = /work\n[commit]\n\tgpgSign = true\n",
    );
    const before = { ...process.env };
    Object.assign(process.env, {
      HOME: hostile,
      GIT_DIR: join(root, "nowhere"),
      GIT_INDEX_FILE: join(root, "index-elsewhere"),
      GIT_OBJECT_DIRECTORY: join(root, "objects-elsewhere"),
      GIT_CONFIG_COUNT: "1",
      GIT_CONFIG_KEY_0: "core.autocrlf",
      GIT_CONFIG_VALUE_0: "true",
    });
    try {
      const { take, checkpoints, tree } = await placeAt(root);
      const git = datedTree(join(root, ".git"));
      const { ref } = await take();
      const start = tree();
      for (const name of Object.keys(contents)) rmSync(join(root, name));
      await take();
      succeeded(await checkpoints.restore(ref, { session: "s1" }));
      succeeded(await checkpoints.collect());
      assert.deepEqual(tree(), start);
      assert.deepEqual(datedTree(join(root, ".git")), git);
      assert.equal(existsSync(trace), false);
    } finally {
      for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
      Object.assign(process.env, before);
    }
  });
});
