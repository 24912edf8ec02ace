/**
 * Commits on disks that really fail: full, read-only, or another user's; skipped if nothing can be mounted.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it, type TestContext } from "node:test";
import { pathToFileURL } from "node:url";
import { type Change, type Failure, isFailure } from "@lathe/protocol";
import { type FileTree, failedWith, treeOf } from "@lathe/testkit";
import { createWorkspace } from "./create-workspace.ts";
import { nodeDisk } from "./disk/disk.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "lathe-real-disk-")));
const mounts: string[] = [];
after(() => {
  for (const mount of mounts) run("umount", mount);
  rmSync(folder, { recursive: true });
});
const { versionOf } = createWorkspace({ root: folder });

/** Runs a system command; returns its error, if there is one. */
function run(command: string, ...args: readonly string[]): string | undefined {
  const { status, error, stderr } = spawnSync(command, args);
  return status === 0 ? undefined : (error?.message ?? stderr.toString().trim());
}

/** A 1 MB disk in memory; undefined, and the test skipped, if this process may not mount one. */
function smallDisk(t: TestContext, options = "size=1m"): string | undefined {
  const mount = mkdtempSync(join(folder, "mount-"));
  const refused = run("mount", "-t", "tmpfs", "-o", options, "none", mount);
  if (refused !== undefined) {
    t.skip(`this process may not mount a disk: ${refused}`);
    return undefined;
  }
  mounts.push(mount);
  return mount;
}

function remount(mount: string, how: "ro" | "rw"): void {
  assert.equal(run("mount", "-o", `remount,${how}`, mount), undefined);
}

const page = 4096;
const text = (letter: string, pages: number): string => letter.repeat(pages * page);
const files: FileTree = { a: text("a", 3), "b/": "", "b/b": text("b", 2), c: text("c", 1), m: text("m", 2) };
const changes: readonly Change[] = [
  { type: "put", path: "a", expected: versionOf(files.a ?? ""), text: text("A", 4) },
  { type: "delete", path: "b/b", expected: versionOf(files["b/b"] ?? "") },
  { type: "put", path: "new/deep/n", expected: null, text: text("n", 3) },
  { type: "move", path: "m", to: "new/m", expected: versionOf(files.m ?? ""), text: text("M", 3) },
  { type: "put", path: "c", expected: versionOf(files.c ?? ""), text: text("C", 1) },
];
const changed: FileTree = {
  a: text("A", 4),
  "b/": "",
  c: text("C", 1),
  "new/": "",
  "new/deep/": "",
  "new/deep/n": text("n", 3),
  "new/m": text("M", 3),
};

function fill(mount: string): string {
  const root = join(mount, "root");
  for (const name of readdirSync(mount)) rmSync(join(mount, name), { recursive: true });
  mkdirSync(join(root, "b"), { recursive: true });
  for (const [path, content] of Object.entries(files)) {
    if (!path.endsWith("/")) writeFileSync(join(root, path), content);
  }
  return root;
}

function leavePages(mount: string, count: number): void {
  const ballast = join(mount, "ballast");
  writeFileSync(ballast, "");
  writeFileSync(ballast, Buffer.alloc(Math.max(0, statfsSync(mount).bfree - count) * page, 1));
  assert.equal(statfsSync(mount).bfree, count);
}

function leaveNames(mount: string, count: number): void {
  mkdirSync(join(mount, "ballast"));
  for (let i = statfsSync(mount).ffree; i > count; i--) writeFileSync(join(mount, "ballast", `${i}`), "");
}

/** Whether the commit was done; it must never be partial or leave files. */
async function committed(root: string, journal: string): Promise<boolean> {
  const workspace = createWorkspace({ root, journal });
  const result = await workspace.commit(changes);
  await workspace.close();
  if (isFailure(result)) failedWith("disk-full", result);
  assert.deepEqual(treeOf(root), isFailure(result) ? files : changed);
  return !isFailure(result);
}

describe("a full disk", () => {
  for (const isShared of [true, false]) {
    it(`does all or nothing at whichever page it is full${isShared ? ", with the journal on it" : ""}`, async (t) => {
      const mount = smallDisk(t);
      if (mount === undefined) return;
      let refused = 0;
      for (let pages = 0; ; pages++) {
        const root = fill(mount);
        leavePages(mount, pages);
        const journal = join(isShared ? mount : folder, `journal-${isShared}`);
        if (await committed(root, journal)) break;
        refused += 1;
      }
      t.diagnostic(`refused ${refused} times`);
      assert.ok(refused >= 10);
    });
  }

  it("does all or nothing at whichever name it has no room for", async (t) => {
    const mount = smallDisk(t, "size=1m,nr_inodes=60");
    if (mount === undefined) return;
    let refused = 0;
    for (let names = 0; ; names++) {
      const root = fill(mount);
      leaveNames(mount, names);
      if (await committed(root, join(mount, "journal"))) break;
      refused += 1;
    }
    t.diagnostic(`refused ${refused} times`);
    assert.ok(refused >= 10);
  });

  it("gets room by a commit that deletes", async (t) => {
    const mount = smallDisk(t);
    if (mount === undefined) return;
    const root = fill(mount);
    const journal = join(mount, "journal");
    const workspace = createWorkspace({ root, journal });
    await workspace.commit([{ type: "put", path: "x", expected: null, text: "x" }]);
    leavePages(mount, 0);
    const removed = await workspace.commit([
      { type: "delete", path: "a", expected: versionOf(files.a ?? "") },
    ]);
    assert.ok(!isFailure(removed), JSON.stringify(removed));
  });
});

describe("a read-only disk", () => {
  it("refuses, and changes nothing", async (t) => {
    const mount = smallDisk(t);
    if (mount === undefined) return;
    const root = fill(mount);
    remount(mount, "ro");
    const result = await createWorkspace({ root, journal: join(folder, "journal-ro") }).commit(changes);
    remount(mount, "rw");
    failedWith("no-access", result);
    assert.deepEqual(treeOf(root), files);
  });

  it("that becomes so before or during the effect is cleaned up once it is writable", async (t) => {
    const mount = smallDisk(t);
    if (mount === undefined) return;
    for (const calls of [0, 1, 2, 3]) {
      const root = fill(mount);
      const journal = join(folder, `journal-within-${calls}`);
      let left = calls;
      const rename = (from: string, to: string): void => {
        if (left === 0) remount(mount, "ro");
        left -= 1;
        nodeDisk.rename(from, to);
      };
      const workspace = createWorkspace({ root, journal, disk: { ...nodeDisk, rename } });
      const result = await workspace.commit(changes);
      await workspace.close();
      remount(mount, "rw");
      if (calls < 2) failedWith("no-access", result);
      const after = createWorkspace({ root, journal, isAlive: () => false });
      await after.list(".");
      await after.close();
      assert.deepEqual(treeOf(root), calls < 2 ? files : changed);
      assert.deepEqual(readdirSync(journal), []);
    }
  });
});

/** Commits as another user, in another process. */
function commitAs(uid: number, root: string, list: readonly Change[]): Failure | readonly unknown[] {
  const module = pathToFileURL(join(import.meta.dirname, "create-workspace.ts")).href;
  const script = `
    const { createWorkspace } = await import(${JSON.stringify(module)});
    const workspace = createWorkspace(${JSON.stringify({ root, journal: `${root}-journal` })});
    console.log(JSON.stringify(await workspace.commit(${JSON.stringify(list)})));
    await workspace.close();`;
  const child = spawnSync(process.execPath, ["--input-type=module", "-e", script], {
    uid,
    gid: uid,
    encoding: "utf8",
  });
  assert.equal(child.status, 0, child.stderr);
  return JSON.parse(child.stdout);
}

describe("another user's files", {
  skip: process.getuid?.() !== 0 && "only root can be somebody else",
}, () => {
  const nobody = 65534;
  const put = (path: string): Change => ({ type: "put", path, expected: versionOf("1"), text: "2" });

  function theirs(): string {
    chmodSync(folder, 0o755);
    const outer = mkdtempSync(join(folder, "theirs-"));
    const root = join(outer, "root");
    for (const path of [outer, root, join(root, "closed")]) {
      mkdirSync(path, { recursive: true });
      chownSync(path, nobody, nobody);
      chmodSync(path, 0o755);
    }
    for (const path of ["a", "read-only", "closed/b", "shared"]) {
      writeFileSync(join(root, path), "1");
      chownSync(join(root, path), nobody, nobody);
    }
    chmodSync(join(root, "read-only"), 0o444);
    chownSync(join(root, "shared"), 0, 0);
    chmodSync(join(root, "shared"), 0o666);
    chownSync(join(root, "closed"), 0, 0);
    return root;
  }

  it("are not changed without permission, and neither are other files of the commit", () => {
    const root = theirs();
    const before = treeOf(root);
    const removal: Change = { type: "delete", path: "closed/b", expected: versionOf("1") };
    const within: Change = { type: "put", path: "closed/new/x", expected: null, text: "2" };
    for (const change of [put("read-only"), put("closed/b"), removal, within]) {
      const result = commitAs(nobody, root, [put("a"), change]);
      failedWith("no-access", result as Failure);
      assert.deepEqual(treeOf(root), before);
    }
  });

  it("are replaced if permitted, with their permissions", () => {
    const root = theirs();
    const result = commitAs(nobody, root, [put("a"), put("shared")]);
    assert.ok(!isFailure(result), JSON.stringify(result));
    assert.equal(treeOf(root).shared, "2");
    assert.equal(statSync(join(root, "shared")).mode & 0o7777, 0o666);
    assert.equal(statSync(join(root, "a")).uid, nobody);
  });

  it("keep their owner when root changes them", async () => {
    const root = theirs();
    const workspace = createWorkspace({ root, journal: `${root}-journal` });
    assert.ok(!isFailure(await workspace.commit([put("a"), put("closed/b")])));
    const { uid, gid, mode } = statSync(join(root, "a"));
    assert.deepEqual([uid, gid, mode & 0o7777], [nobody, nobody, 0o644]);
  });

  it("that cannot be changed stay, with all other files of the commit", async (t) => {
    const root = theirs();
    const fixed = join(root, "a");
    if (run("chattr", "+i", fixed) !== undefined) return t.skip("this disk has no immutable files");
    try {
      const before = treeOf(root);
      const workspace = createWorkspace({ root, journal: `${root}-journal` });
      failedWith("no-access", await workspace.commit([put("closed/b"), put("a"), put("shared")]));
      failedWith("no-access", await workspace.commit([put("a")]));
      assert.deepEqual(treeOf(root), before);
    } finally {
      run("chattr", "-i", fixed);
    }
  });
});
