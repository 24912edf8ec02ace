import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  appendFileSync,
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
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { homedir, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, describe, it } from "node:test";
import { type Checkpoint, type Checkpoints, type Failure, failure, isFailure } from "@lathe/protocol";
import { datedTree, exactTree, failedWith, runGitIn, succeeded } from "@lathe/testkit";
import { type Disk, nodeDisk } from "../disk.ts";
import { type CheckpointsOptions, openCheckpoints } from "./open-checkpoints.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "lathe-checkpoints-")));
after(() => rmSync(folder, { recursive: true, force: true }));

const isNotGit = (name: string): boolean => name === ".git";

interface Place {
  readonly root: string;
  readonly state: string;
  readonly checkpoints: Checkpoints;
  put(path: string, content: string | Uint8Array, mode?: number): void;
  take(): Promise<Checkpoint>;
  tree(): Readonly<Record<string, string>>;
}

type More = Partial<CheckpointsOptions>;

function optionsFor(root: string, state: string, more: More = {}): CheckpointsOptions {
  return {
    root,
    folder: join(state, "checkpoints"),
    journal: join(state, "journal"),
    home: homedir(),
    path: process.env.PATH ?? "",
    ...more,
  };
}

async function placeAt(root: string, more: More = {}): Promise<Place> {
  const state = mkdtempSync(join(folder, "state-"));
  const checkpoints = succeeded(await openCheckpoints(optionsFor(root, state, more)));
  return {
    root,
    state,
    checkpoints,
    put: (path, content, mode) => put(root, path, content, mode),
    take: async () => succeeded(await checkpoints.take("s1")),
    tree: () => exactTree(root, isNotGit),
  };
}

async function place(more: More = {}): Promise<Place> {
  return placeAt(mkdtempSync(join(folder, "root-")), more);
}

type File = readonly [path: string, content: string | Uint8Array, mode?: number];

function put(root: string, ...[path, content, mode = 0o644]: File): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), content);
  chmodSync(join(root, path), mode);
}

function repository(root: string): string {
  mkdirSync(root, { recursive: true });
  runGitIn(root, "init", "-q", "-b", "main");
  return root;
}

function committed(root: string): string {
  repository(root);
  put(root, "a.txt", "a\n");
  put(root, "src/b.txt", "b\n");
  runGitIn(root, "add", "-A");
  runGitIn(root, "commit", "-qm", "first");
  return root;
}

function newFolder(): string {
  return mkdtempSync(join(folder, "root-"));
}

describe("take", () => {
  it("gives the same ref when nothing has changed, and another when something has", async () => {
    const { put, take } = await place();
    put("a.txt", "1");
    const first = await take();
    assert.equal((await take()).ref, first.ref);
    put("a.txt", "2");
    assert.notEqual((await take()).ref, first.ref);
  });

  it("sees every change that leaves size and time of a file as they were", async () => {
    const { root, put, take } = await place();
    const refs = new Set<string>();
    for (let i = 0; i < 60; i++) {
      put("a.txt", String(100 + i));
      utimesSync(join(root, "a.txt"), 1_000, 1_000);
      refs.add((await take()).ref);
    }
    assert.equal(refs.size, 60);
  });

  it("sees what comes and goes in folders that have long been as they are", async () => {
    const { root, put, take, checkpoints, tree } = await place();
    put("old/deep/a", "1");
    put("old/b", "1");
    const changes = [
      () => put("old/deep/new", "n"),
      () => renameSync(join(root, "old/deep/new"), join(root, "old/deep/other")),
      () => rmSync(join(root, "old/b")),
      () => mkdirSync(join(root, "old/deep/empty")),
      () => rmSync(join(root, "old"), { recursive: true }),
    ];
    const states = [{ ref: (await take()).ref, tree: tree() }];
    for (const change of changes) {
      // Only what has not changed for a while is believed to be as it was.
      const quiet = Date.now() + 100;
      while (Date.now() < quiet) await take();
      change();
      states.push({ ref: (await take()).ref, tree: tree() });
    }
    for (const { ref, tree: expected } of states) {
      succeeded(await checkpoints.restore(ref, { session: "s1" }));
      assert.deepEqual(tree(), expected);
    }
  });

  it("keeps one ref for each session, from which plain git can show the files", async () => {
    const { put, take, state } = await place();
    put("src/a.txt", "text");
    const { ref } = await take();
    const store = join(state, "checkpoints", readdirSync(join(state, "checkpoints"))[0] ?? "");
    assert.equal(runGitIn(store, "rev-parse", "refs/sessions/s1").trim(), ref);
    assert.equal(runGitIn(store, "show", `${ref}:src/a.txt`), "text");
    runGitIn(store, "fsck", "--full");
    assert.equal(lstatSync(store).mode & 0o777, 0o700);
  });

  it("goes on where another process has stopped", async () => {
    const { root, state, put, take, tree } = await place();
    put("a.txt", "1");
    const { ref } = await take();
    const again = succeeded(await openCheckpoints(optionsFor(root, state)));
    assert.equal(succeeded(await again.take("s1")).ref, ref);
    const start = tree();
    put("a.txt", "2");
    succeeded(await again.restore(ref, { session: "s1" }));
    assert.deepEqual(tree(), start);
  });

  it("gives up when the time is used up, and needs less the next time", async () => {
    const { root, state, put } = await place();
    for (let i = 0; i < 400; i++) put(`f${i}/x`, "x".repeat(20_000) + i);
    const limits = { firstBudgetMs: 10 };
    const slow = succeeded(await openCheckpoints(optionsFor(root, state, { limits })));
    failedWith("too-large", await slow.take("s1"));
    let taken: Checkpoint | Failure = await slow.take("s1");
    for (let i = 0; i < 500 && isFailure(taken); i++) taken = await slow.take("s1");
    succeeded(taken);
  });

  it("refuses more files, and more bytes, than it may have", async () => {
    const few = await place({ limits: { maxFiles: 3 } });
    for (const name of ["a", "b", "c"]) few.put(name, name);
    await few.take();
    few.put("d", "d");
    failedWith("too-large", await few.checkpoints.take("s1"));
    const small = await place({ limits: { quota: 100_000 } });
    for (let i = 0; i < 400; i++) {
      small.put(`${i}`, randomBytes(100_000));
    }
    failedWith("too-large", await small.checkpoints.take("s1"));
  });
});

describe("where there are no checkpoints", () => {
  it("refuses home, what is above it, and the system's folders", async () => {
    const home = join(folder, "home", "me");
    mkdirSync(join(home, "project"), { recursive: true });
    for (const root of [home, dirname(home), "/", "/tmp", "/etc", "/usr", "/var", "/proc"]) {
      const opened = await openCheckpoints(optionsFor(root, join(folder, "no"), { home }));
      failedWith("no-access", opened);
    }
    assert.equal(existsSync(join(folder, "no")), false);
    succeeded(await openCheckpoints(optionsFor(join(home, "project"), join(folder, "yes"), { home })));
  });

  it("says that git is missing or too old", async () => {
    const bin = join(folder, "old-git");
    put(bin, "git", "#!/bin/sh\necho git version 2.19.4\n", 0o755);
    const old = await openCheckpoints(optionsFor(newFolder(), join(folder, "x"), { path: bin }));
    failedWith("no-access", old);
    assert.match((old as Failure).text, /2\.20 or later/);
    const none = await openCheckpoints(optionsFor(newFolder(), join(folder, "x"), { path: "/nowhere" }));
    failedWith("no-access", none);
  });
});

describe("what is covered", () => {
  it("ignored files are, ignored folders are not", async () => {
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

  it("tracked files in ignored folders are", async () => {
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

  it("follows the rules as they change, and never deletes what a checkpoint did not hold", async () => {
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

  it("neither large files, pipes nor sockets are, and a restore leaves them alone", async () => {
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

  it("nested repositories, submodules, worktrees and those without a commit are", async () => {
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

  it("a folder of a repository is, under the rules of the folders above it", async () => {
    const root = repository(newFolder());
    put(root, ".gitignore", "gen/\n");
    put(root, "packages/a/gen/x", "x");
    put(root, "packages/a/src/x", "x");
    const { take, checkpoints } = await placeAt(join(root, "packages", "a"));
    assert.deepEqual((await take()).skipped, [{ path: "gen", why: "ignored" }]);
    put(root, ".gitignore", "");
    assert.equal((await take()).skippedCount, 0);
    assert.ok(checkpoints);
    // A repository further up that ignores everything, such as one of configuration files in the home folder.
    put(root, ".gitignore", "*\n");
    assert.equal((await take()).skippedCount, 0);
  });

  it("a repository is also while git holds its locks", async () => {
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

  it("a broken repository is, as a plain folder", async () => {
    const root = newFolder();
    put(root, ".git/HEAD", "nonsense");
    put(root, ".gitignore", "gen/\n");
    put(root, "gen/x", "x");
    put(root, "a", "a");
    const { take } = await placeAt(root);
    assert.deepEqual((await take()).skipped, [{ path: "gen", why: "ignored" }]);
  });

  it("a user's file is whose name only begins like one of Lathe's", async () => {
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

  it("Lathe's own files inside the folder are not", async () => {
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
  it("are kept whatever attributes, configuration and hooks say", async () => {
    const root = committed(newFolder());
    const trace = join(root, "..", "hook-ran");
    const hook = `#!/bin/sh\necho ran >> '${trace}'\ncat\n`;
    put(root, "hook.sh", hook, 0o755);
    for (const name of readdirSync(join(root, ".git/hooks"))) rmSync(join(root, ".git/hooks", name));
    for (const name of ["pre-commit", "post-index-change", "reference-transaction", "post-checkout"]) {
      put(root, `.git/hooks/${name}`, hook, 0o755);
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

describe("restore", () => {
  it("undoes what commands did: deleted, moved, permissions, created, links, folders for files", async () => {
    const { root, put, take, checkpoints, tree } = await place();
    put("a.txt", "a");
    put("dir/b.bin", new Uint8Array([0, 1, 255, 254]));
    put("dir/deep/c", "");
    put("private", "p", 0o600);
    put("read-only", "r", 0o444);
    put("run.sh", "#!/bin/sh\n", 0o755);
    put("odd", "o", 0o640);
    put("turns", "file");
    put("goes/x", "x");
    mkdirSync(join(root, "empty/er"), { recursive: true });
    chmodSync(join(root, "empty"), 0o700);
    symlinkSync("a.txt", join(root, "link"));
    symlinkSync("/etc/passwd", join(root, "out"));
    symlinkSync("nowhere", join(root, "dangling"));
    symlinkSync("dir", join(root, "to-folder"));
    const { ref } = await take();
    const start = tree();
    execFileSync("sh", [
      "-c",
      `cd '${root}' && rm a.txt && mv dir moved && chmod 777 private && chmod 600 run.sh read-only && echo new > odd &&
       rm turns && mkdir -p turns/now/a && echo x > turns/now/a/folder && rm -r goes && ln -s turns goes &&
       rm -r empty && echo f > empty && ln -sf other link && rm out && mkdir out && rm dangling &&
       rm to-folder && mkdir to-folder && echo i > to-folder/inside && mkdir -p new/folder && echo n > new/folder/file && ln -s x new/link`,
    ]);
    const end = tree();
    const { undo, now, left } = succeeded(await checkpoints.restore(ref, { session: "s1" }));
    assert.deepEqual(left, []);
    assert.deepEqual(tree(), start);
    succeeded(await checkpoints.restore(undo, { session: "s1", expected: now }));
    assert.deepEqual(tree(), end);
  });

  it("keeps names of any characters", async () => {
    const { root, put, take, checkpoints, tree } = await place();
    const names = [
      "with space",
      "new\nline",
      'quo"te',
      "it's",
      "-dash",
      "--force",
      "tab\t",
      "back\\slash",
      "Ünïcödé",
      "日本語/深い",
      "e\u0301",
      "\u00e9",
      "*",
      "?",
      ":",
      "~",
      "$HOME",
      "%",
      "#",
      "🎉",
      ".hidden",
      "trailing.",
      " lead",
      "a\u2028b",
      "__proto__",
    ];
    for (const name of names) put(name, `of ${name}`);
    const { ref } = await take();
    const start = tree();
    for (const name of readdirSync(root)) rmSync(join(root, name), { recursive: true });
    const { changed } = succeeded(await checkpoints.restore(ref, { session: "s1" }));
    assert.deepEqual(tree(), start);
    for (const name of names) assert.ok(changed.includes(name), name);
  });

  it("keeps names that are no UTF-8", async () => {
    const { root, take, checkpoints, tree } = await place();
    const at = (...bytes: readonly number[]): Buffer =>
      Buffer.concat([Buffer.from(`${root}/`), Buffer.from(bytes)]);
    writeFileSync(at(0x61, 0xff), "1");
    mkdirSync(at(0xc3));
    writeFileSync(at(0xc3, 0x2f, 0x78), "x");
    chmodSync(at(0xc3, 0x2f, 0x78), 0o600);
    symlinkSync("t", at(0xfe));
    writeFileSync(at(0xfd), "to folder");
    const { ref } = await take();
    const start = tree();
    rmSync(at(0x61, 0xff));
    rmSync(at(0xc3, 0x2f, 0x78));
    rmSync(at(0xfe));
    rmSync(at(0xfd));
    mkdirSync(at(0xfd));
    writeFileSync(at(0xfd, 0x2f, 0x61), "in it");
    writeFileSync(at(0xc3, 0x28), "new");
    const end = tree();
    const { undo } = succeeded(await checkpoints.restore(ref, { session: "s1" }));
    assert.deepEqual(tree(), start);
    succeeded(await checkpoints.restore(undo, { session: "s1" }));
    assert.deepEqual(tree(), end);
  });

  it("refuses to overwrite what was changed since the expected state, unless told to", async () => {
    const { put, root, take, checkpoints, tree } = await place();
    put("a", "1");
    put("b", "1");
    put("c", "1");
    const first = await take();
    put("a", "2");
    put("new", "agent's");
    const second = await take();
    put("a", "user's");
    put("mine", "user's");
    const theirs = tree();
    const refused = await checkpoints.restore(first.ref, { session: "s1", expected: second.ref });
    failedWith("stale-version", refused);
    assert.match((refused as Failure).text, /changes to a\./);
    assert.deepEqual(tree(), theirs);
    const forced = { session: "s1", expected: second.ref, force: true };
    succeeded(await checkpoints.restore(first.ref, forced));
    assert.equal(readFileSync(join(root, "a"), "utf8"), "1");
    assert.equal(readFileSync(join(root, "mine"), "utf8"), "user's");
    succeeded(await checkpoints.restore(first.ref, { session: "s1" }));
    assert.deepEqual(Object.keys(tree()), ["a", "b", "c"]);
  });

  it("does not mind later work that it would not touch", async () => {
    const { put, root, take, checkpoints } = await place();
    put("a", "1");
    put("b", "1");
    const first = await take();
    put("a", "2");
    const second = await take();
    put("b", "user's");
    const third = await take();
    put("a", "1");
    const only = succeeded(
      await checkpoints.restore(first.ref, {
        session: "s1",
        expected: second.ref,
      }),
    );
    assert.deepEqual(only.changed, []);
    assert.equal(readFileSync(join(root, "b"), "utf8"), "user's");
    assert.ok(third);
  });

  it("leaves folders that hold what no checkpoint does", async () => {
    const root = repository(newFolder());
    const { put, take, checkpoints } = await placeAt(root);
    put("a", "a");
    const { ref } = await take();
    committed(join(root, "cloned"));
    put("app/package.json", "{}");
    put("app/node_modules/m/i.js", "m");
    const { left } = succeeded(await checkpoints.restore(ref, { session: "s1" }));
    assert.deepEqual(left, [
      { path: "app/node_modules", why: "ignored" },
      { path: "cloned/.git", why: "repository" },
    ]);
    assert.deepEqual(readdirSync(join(root, "app")), ["node_modules"]);
    assert.deepEqual(readdirSync(join(root, "cloned")), [".git"]);
  });

  it("says why each thing is left, also what somebody else has put into a folder that was to go", async () => {
    const { root, put, take, checkpoints } = await place({ limits: { maxFileBytes: 1_000 } });
    put("a", "a");
    const first = await take();
    put("made/own", "agent's");
    put("made/deep/own", "agent's");
    const second = await take();
    put("made/notes", "user's");
    put("made/large", "x".repeat(2_000));
    put("made/.hg/x", "x");
    const forced = { session: "s1", expected: second.ref, force: true };
    const { left, changed } = succeeded(await checkpoints.restore(first.ref, forced));
    assert.deepEqual(left.map(({ path, why }) => `${path} ${why}`).sort(), [
      "made/.hg repository",
      "made/large too-large",
      "made/notes added-since",
    ]);
    assert.deepEqual([...changed].sort(), ["made/deep", "made/deep/own", "made/own"]);
    assert.equal(readFileSync(join(root, "made/notes"), "utf8"), "user's");
  });

  it("brings back names that are no UTF-8 in folders that are gone, or have become links", async () => {
    const { root, take, checkpoints, tree } = await place();
    const odd = Buffer.from([0x2f, 0x61, 0xff]);
    const at = (folder: string): Buffer => Buffer.concat([Buffer.from(join(root, folder)), odd]);
    for (const folder of ["gone", "linked"]) {
      mkdirSync(join(root, folder));
      writeFileSync(at(folder), folder);
    }
    const { ref } = await take();
    const start = tree();
    for (const folder of ["gone", "linked"]) rmSync(join(root, folder), { recursive: true });
    symlinkSync("nowhere", join(root, "linked"));
    const end = tree();
    const { undo } = succeeded(await checkpoints.restore(ref, { session: "s1" }));
    assert.deepEqual(tree(), start);
    succeeded(await checkpoints.restore(undo, { session: "s1" }));
    assert.deepEqual(tree(), end);
  });

  it("does nothing for an owner who has lost the session", async () => {
    const lost = failure("stale-epoch", "somebody else owns the session");
    const { put, take, checkpoints, tree } = await place({ fenced: async () => lost });
    put("a", "1");
    const { ref } = await take();
    put("a", "2");
    put("b", "2");
    const present = tree();
    failedWith("stale-epoch", await checkpoints.restore(ref, { session: "s1" }));
    assert.deepEqual(tree(), present);
  });

  it("says that a ref is none, is gone, or is damaged", async () => {
    const { put, take, checkpoints, state } = await place();
    put("a", "1".repeat(500));
    const { ref } = await take();
    put("a", "2");
    failedWith("not-found", await checkpoints.restore("--upload-pack=x", { session: "s1" }));
    failedWith("not-found", await checkpoints.restore("0".repeat(40), { session: "s1" }));
    const packs = join(
      state,
      "checkpoints",
      readdirSync(join(state, "checkpoints"))[0] ?? "",
      "objects/pack",
    );
    for (const name of readdirSync(packs).filter((one) => one.endsWith(".pack"))) {
      const bytes = readFileSync(join(packs, name));
      bytes.fill(0x55, 14, bytes.length - 22);
      chmodSync(join(packs, name), 0o600);
      writeFileSync(join(packs, name), bytes);
    }
    const result = await checkpoints.restore(ref, { session: "s1" });
    failedWith("log-corrupt", result);
  });
});

describe("difference", () => {
  it("names what was added, modified, deleted and what only changed its permissions", async () => {
    const { root, put, take, checkpoints } = await place({ unified: (before, now) => `${before}|${now}` });
    put("changed", "1");
    put("deleted", "1");
    put("mode", "1");
    put("binary", new Uint8Array([0, 1]));
    put("same", "1");
    symlinkSync("a", join(root, "link"));
    const first = await take();
    put("changed", "2");
    rmSync(join(root, "deleted"));
    put("mode", "1", 0o755);
    put("binary", new Uint8Array([0, 2]));
    put("new/file", "n");
    rmSync(join(root, "link"));
    symlinkSync("b", join(root, "link"));
    const found = succeeded(await checkpoints.difference(first.ref));
    const shown = found.map(({ path, kind, diff, binary }) => [
      path,
      kind,
      diff ?? (binary ? "binary" : "-"),
    ]);
    assert.deepEqual(shown, [
      ["binary", "modified", "binary"],
      ["changed", "modified", "1|2"],
      ["deleted", "deleted", "1|undefined"],
      ["link", "modified", "a|b"],
      ["mode", "mode", "-"],
      ["new/file", "added", "undefined|n"],
    ]);
    assert.equal(found[4]?.after?.mode, 0o755);
    const second = await take();
    assert.deepEqual(await checkpoints.difference(first.ref, second.ref), found);
    assert.deepEqual(await checkpoints.difference(second.ref), []);
  });
});

describe("keeping", () => {
  it("packs many small checkpoints, each of which still can be restored", async () => {
    const { put, take, checkpoints, state, tree } = await place();
    const taken: { readonly ref: string; readonly tree: unknown }[] = [];
    for (let i = 0; i < 70; i++) {
      put(`f${i % 7}`, `${i}`);
      taken.push({ ref: (await take()).ref, tree: tree() });
    }
    succeeded(await checkpoints.collect());
    const packs = join(
      state,
      "checkpoints",
      readdirSync(join(state, "checkpoints"))[0] ?? "",
      "objects/pack",
    );
    assert.ok(readdirSync(packs).length < 40);
    for (const { ref, tree: expected } of taken.filter((_, i) => i % 9 === 0)) {
      succeeded(await checkpoints.restore(ref, { session: "s1" }));
      assert.deepEqual(tree(), expected);
    }
  });

  it("drops the oldest sessions when the store is too large", async () => {
    const { root, state } = await place();
    const random = (): Buffer => randomBytes(60_000);
    const refs: string[] = [];
    let age = 1_000;
    const limits = { quota: 200_000 };
    const open = async (): Promise<Checkpoints> =>
      succeeded(await openCheckpoints(optionsFor(root, state, { limits })));
    for (const session of ["old", "middle", "recent"]) {
      put(root, "a", random());
      refs.push(succeeded(await (await open()).take(session)).ref);
      const ref = join(readdirSync(join(state, "checkpoints"))[0] ?? "", "refs/sessions", session);
      utimesSync(join(state, "checkpoints", ref), age, age++);
    }
    put(root, "a", random());
    const checkpoints = await open();
    succeeded(await checkpoints.take("own"));
    const { dropped, after: size } = succeeded(await checkpoints.collect());
    assert.deepEqual(dropped, ["old"]);
    assert.ok(size <= limits.quota);
    failedWith("not-found", await checkpoints.restore(refs[0] ?? "", { session: "own" }));
    succeeded(await checkpoints.restore(refs[1] ?? "", { session: "own" }));
  });
});

describe("after a power cut", () => {
  const storeOf = (state: string): string =>
    join(state, "checkpoints", readdirSync(join(state, "checkpoints"))[0] ?? "");

  it("a torn ref is as none, and stops nothing", async () => {
    const { root, state, put, take } = await place();
    put("a", "1");
    const { ref } = await take();
    writeFileSync(join(storeOf(state), "refs/sessions/s1"), "");
    writeFileSync(join(storeOf(state), "refs/sessions/s0"), `${"0".repeat(40)}\n`);
    const again = succeeded(await openCheckpoints(optionsFor(root, state)));
    succeeded(await again.take("s2"));
    succeeded(await again.collect());
    succeeded(await again.take("s1"));
    put("a", "2");
    succeeded(await again.restore(ref, { session: "s1" }));
    assert.deepEqual(readdirSync(join(storeOf(state), "refs/sessions")).sort(), ["s1", "s2"]);
  });

  it("what a torn pack held is kept again, and what cannot be had is not believed", async () => {
    const { root, state, put, take, tree } = await place();
    put("a", "1".repeat(1_000));
    put("b/c", "1");
    const first = await take();
    put("b/c", "2");
    const second = await take();
    const packs = join(storeOf(state), "objects/pack");
    for (const name of readdirSync(packs).filter((one) => one.endsWith(".pack"))) {
      truncateSync(join(packs, name), 20);
    }
    writeFileSync(join(storeOf(state), "files-seen.json"), "\0".repeat(100));
    const again = succeeded(await openCheckpoints(optionsFor(root, state)));
    for (const { ref } of [first, second]) {
      assert.ok(isFailure(await again.restore(ref, { session: "s1" })));
    }
    const start = tree();
    const third = succeeded(await again.take("s1"));
    rmSync(join(root, "a"));
    rmSync(join(root, "b"), { recursive: true });
    succeeded(await again.restore(third.ref, { session: "s1" }));
    assert.deepEqual(tree(), start);
  });
});

describe("permissions", { skip: process.getuid?.() !== 0 && "needs root to become somebody else" }, () => {
  it("a file or folder that may not be read is skipped, and left alone", () => {
    const root = newFolder();
    const state = mkdtempSync(join(folder, "state-"));
    put(root, "a", "1");
    put(root, "closed", "secret", 0o000);
    put(root, "locked/x", "x");
    put(root, "read-only/x", "x");
    put(root, "listed/x", "x");
    execFileSync("chown", ["-R", "65534:65534", root, state]);
    chmodSync(join(root, "locked"), 0o000);
    chmodSync(join(root, "read-only"), 0o555);
    chmodSync(join(root, "listed"), 0o444);
    chmodSync(folder, 0o755);
    const script = `
      process.setgid(65534); process.setuid(65534);
      const { openCheckpoints } = await import(${JSON.stringify(join(import.meta.dirname, "open-checkpoints.ts"))});
      const { writeFileSync, unlinkSync, chmodSync } = await import("node:fs");
      const root = ${JSON.stringify(root)};
      const c = await openCheckpoints(${JSON.stringify(optionsFor(root, state, { home: "/nonexistent" }))});
      const first = await c.take("s1");
      writeFileSync(root + "/a", "2");
      chmodSync(root + "/read-only", 0o755); unlinkSync(root + "/read-only/x"); chmodSync(root + "/read-only", 0o555);
      const restored = await c.restore(first.ref, { session: "s1" });
      console.log(JSON.stringify({ first, restored }));`;
    const ran = spawnSync(process.execPath, ["--input-type=module-typescript", "-e", script], {
      encoding: "utf8",
      env: { PATH: process.env.PATH },
      cwd: "/",
    });
    assert.equal(ran.status, 0, ran.stderr);
    const { first, restored } = JSON.parse(ran.stdout);
    assert.deepEqual(first.skipped, [
      { path: "listed/x", why: "unreadable" },
      { path: "locked", why: "unreadable" },
      { path: "closed", why: "unreadable" },
    ]);
    assert.deepEqual(restored.changed, ["a", "read-only/x"]);
    assert.equal(readFileSync(join(root, "a"), "utf8"), "1");
    assert.equal(readFileSync(join(root, "closed"), "utf8"), "secret");
    assert.equal(lstatSync(join(root, "read-only")).mode & 0o777, 0o555);
    chmodSync(join(root, "locked"), 0o755);
  });
});

describe("two at once in one folder", () => {
  it("a pack that is being written is none yet for git, whoever packs meanwhile", async () => {
    const seen: string[] = [];
    const look = (path: string): void => void seen.push(...readdirSync(dirname(path)));
    const rename: Disk["rename"] = (from, to) => {
      look(from);
      nodeDisk.rename(from, to);
    };
    const { put, take } = await place({ disk: { ...nodeDisk, rename } });
    put("a", "1");
    await take();
    assert.ok(seen.some((name) => name.startsWith("tmp-")));
    assert.deepEqual(
      seen.filter((name) => /\.(?:idx|pack)$/.test(name) && !/^pack-[0-9a-f]{40}\./.test(name)),
      [],
    );
  });

  it("do not disturb each other", async () => {
    const { root, state, put, checkpoints } = await place();
    for (let i = 0; i < 200; i++) put(`d${i % 10}/f${i}`, `${i}`);
    const script = `
      const { openCheckpoints } = await import(${JSON.stringify(join(import.meta.dirname, "open-checkpoints.ts"))});
      const { writeFileSync } = await import("node:fs");
      const [name] = process.argv.slice(-1);
      const c = await openCheckpoints(${JSON.stringify(optionsFor(root, state))});
      const refs = [];
      for (let i = 0; i < 40; i++) {
        writeFileSync(${JSON.stringify(root)} + "/by-" + name, String(i));
        const taken = await c.take(name);
        if (!taken.ref) throw new Error(taken.text);
        refs.push(taken.ref);
        if (i % 10 === 5) { const done = await c.collect(); if (done.code) throw new Error(done.text); }
      }
      for (const ref of refs) { const d = await c.difference(ref); if (d.code) throw new Error(ref + d.text); }
      await c.close();
      console.log(new Set(refs).size);`;
    const runs = await Promise.all(
      ["one", "two", "three"].map(
        (name) =>
          new Promise<string>((resolve) => {
            const child = spawn(process.execPath, ["--input-type=module-typescript", "-e", script, name], {
              env: { PATH: process.env.PATH },
            });
            let text = "";
            child.stdout.on("data", (chunk) => (text += chunk));
            child.stderr.on("data", (chunk) => (text += chunk));
            child.on("close", (code) => resolve(`${code} ${text.trim()}`));
          }),
      ),
    );
    assert.deepEqual(runs, ["0 40", "0 40", "0 40"]);
    const marks = join(state, "checkpoints", readdirSync(join(state, "checkpoints"))[0] ?? "", "marks");
    await checkpoints.close();
    assert.deepEqual(readdirSync(marks), []);
  });

  it("files that change all the time are taken whole, each as it was at some moment", async () => {
    const { root, put, take, checkpoints } = await place();
    const texts = ["a", "b"].map((letter) => letter.repeat(300_000));
    put("busy", texts[0] ?? "");
    let stop = false;
    const writing = (async () => {
      for (let i = 0; !stop; i++) {
        writeFileSync(join(root, "next"), texts[i % 2] ?? "");
        renameSync(join(root, "next"), join(root, "busy"));
        await new Promise((resolve) => setImmediate(resolve));
      }
    })();
    const refs: string[] = [];
    for (let i = 0; i < 20; i++) refs.push((await take()).ref);
    stop = true;
    await writing;
    for (const ref of refs) {
      succeeded(await checkpoints.restore(ref, { session: "s1" }));
      assert.ok(texts.includes(readFileSync(join(root, "busy"), "utf8")));
    }
  });
});
