import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, describe, it } from "node:test";
import { type Change, type Failure, type Fenced, failure, isFailure } from "@lathe/protocol";
import { workspaceConformance } from "@lathe/testkit";
import fc from "fast-check";
import { createWorkspace } from "./create-workspace.ts";
import { type Disk, nodeDisk } from "./disk.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "lathe-workspace-")));
after(() => rmSync(folder, { recursive: true }));

function put(root: string, path: string, content: string | Uint8Array): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), content);
}

/** Every file and, with a slash, every folder; links are shown as such. */
function tree(root: string): Readonly<Record<string, string>> {
  const entries = readdirSync(root, { recursive: true, withFileTypes: true });
  return Object.fromEntries(
    entries.map((entry) => {
      const path = join(entry.parentPath, entry.name);
      const name = path.slice(root.length + 1);
      return entry.isDirectory() ? [`${name}/`, ""] : [name, readFileSync(path, "utf8")];
    }),
  );
}

function emptyRoot(): string {
  return mkdtempSync(join(folder, "root-"));
}

function code(result: unknown): Failure["code"] | undefined {
  return isFailure(result) ? result.code : undefined;
}

workspaceConformance("a local folder", () => {
  const root = emptyRoot();
  let lost: Failure | undefined;
  const workspace = createWorkspace({ root, fenced: async (effect) => lost ?? effect() });
  const files = (): Readonly<Record<string, string>> =>
    Object.fromEntries(Object.entries(tree(root)).filter(([path]) => !path.endsWith("/")));
  const loseOwnership = (): void => {
    lost = failure("stale-epoch", "somebody else owns the session");
  };
  return { workspace, put: (path, content) => put(root, path, content), files, loseOwnership };
});

/** A disk whose n-th change throws, and nothing after it when `dead`. */
function faultyDisk(fails: number, errno: string): { readonly disk: Disk; readonly count: () => number } {
  let calls = 0;
  const guarded = <Args extends readonly unknown[]>(name: string, call: (...args: Args) => void) => {
    return (...args: Args): void => {
      calls++;
      if (calls !== fails) {
        call(...args);
        return;
      }
      // A full disk leaves a part of the file behind.
      if (name === "write") writeFileSync(String(args[0]), "torn", { flag: "wx" });
      throw Object.assign(new Error(`${errno}: injected into ${name}`), { code: errno });
    };
  };
  const disk: Disk = {
    write: guarded("write", nodeDisk.write),
    rename: guarded("rename", nodeDisk.rename),
    link: guarded("link", nodeDisk.link),
    copy: guarded("copy", nodeDisk.copy),
    unlink: guarded("unlink", nodeDisk.unlink),
    mkdir: guarded("mkdir", nodeDisk.mkdir),
    rmdir: guarded("rmdir", nodeDisk.rmdir),
    syncFolder: guarded("syncFolder", nodeDisk.syncFolder),
  };
  return { disk, count: () => calls };
}

describe("commit on a failing disk", () => {
  const before = { "a.txt": "a", "b/b.txt": "b", "c.txt": "c" };
  const changesOf = (versionOf: (text: string) => string): readonly Change[] => [
    { type: "put", path: "new/deep/n.txt", expected: null, text: "n" },
    { type: "put", path: "a.txt", expected: versionOf("a"), text: "A" },
    { type: "delete", path: "b/b.txt", expected: versionOf("b") },
    { type: "put", path: "c.txt", expected: versionOf("c"), text: "C" },
  ];

  it("does all or nothing, whichever call fails, and leaves nothing behind", async () => {
    const codes: Readonly<Record<string, string>> = {
      ENOSPC: "disk-full",
      EACCES: "no-access",
      EIO: "no-access",
    };
    let refused = 0;
    for (const [errno, expected] of Object.entries(codes)) {
      for (let fails = 1, done = false; !done; fails++) {
        const root = emptyRoot();
        for (const [path, text] of Object.entries(before)) put(root, path, text);
        const start = tree(root);
        const { disk, count } = faultyDisk(fails, errno);
        const workspace = createWorkspace({ root, disk });
        const result = await workspace.commit(changesOf(workspace.versionOf));
        done = count() < fails;
        if (isFailure(result)) {
          refused++;
          assert.equal(result.code, expected, result.text);
          assert.deepEqual(tree(root), start, `${errno} in call ${fails}`);
        } else {
          const changed = Object.entries(tree(root)).filter(([path]) => !path.includes(".lathe-"));
          assert.deepEqual(Object.fromEntries(changed), {
            "new/": "",
            "new/deep/": "",
            "new/deep/n.txt": "n",
            "a.txt": "A",
            "b/": "",
            "c.txt": "C",
          });
        }
      }
    }
    assert.ok(refused > 20, `${refused}`);
  });

  it("puts a single file back as it was, whatever fails", async () => {
    const property = fc.asyncProperty(fc.integer({ min: 1, max: 6 }), fc.string(), async (fails, text) => {
      const root = emptyRoot();
      put(root, "a.txt", "a");
      const workspace = createWorkspace({ root, disk: faultyDisk(fails, "ENOSPC").disk });
      const change: Change = { type: "put", path: "a.txt", expected: workspace.versionOf("a"), text };
      const result = await workspace.commit([change]);
      assert.equal(readFileSync(join(root, "a.txt"), "utf8"), isFailure(result) && fails < 3 ? "a" : text);
    });
    await fc.assert(property, { numRuns: 15 });
  });

  it("works where there are no hard links", async () => {
    const root = emptyRoot();
    for (const [path, text] of Object.entries(before)) put(root, path, text);
    const link = (): void => {
      throw Object.assign(new Error("EPERM"), { code: "EPERM" });
    };
    const workspace = createWorkspace({ root, disk: { ...nodeDisk, link } });
    const result = await workspace.commit(changesOf(workspace.versionOf));
    assert.ok(!isFailure(result));
    assert.deepEqual(Object.keys(tree(root)).sort(), [
      "a.txt",
      "b/",
      "c.txt",
      "new/",
      "new/deep/",
      "new/deep/n.txt",
    ]);
  });

  it("notices a change made between its check and its effect", async () => {
    const root = emptyRoot();
    put(root, "a.txt", "a");
    const fenced: Fenced = (effect) => {
      put(root, "a.txt", "theirs");
      return effect();
    };
    const workspace = createWorkspace({ root, fenced });
    const change: Change = { type: "put", path: "a.txt", expected: workspace.versionOf("a"), text: "ours" };
    assert.equal(code(await workspace.commit([change])), "stale-version");
    assert.deepEqual(tree(root), { "a.txt": "theirs" });
  });
});

describe("a file's nature", () => {
  it("keeps the mode, also of a program", async () => {
    const root = emptyRoot();
    put(root, "run.sh", "a");
    chmodSync(join(root, "run.sh"), 0o751);
    const workspace = createWorkspace({ root });
    await workspace.commit([{ type: "put", path: "run.sh", expected: workspace.versionOf("a"), text: "b" }]);
    assert.equal(statSync(join(root, "run.sh")).mode & 0o777, 0o751);
  });

  it("refuses a read-only file and a read-only folder", {
    skip: process.getuid?.() === 0 && "root may write everything",
  }, async () => {
    const root = emptyRoot();
    put(root, "a.txt", "a");
    put(root, "closed/b.txt", "b");
    chmodSync(join(root, "a.txt"), 0o444);
    chmodSync(join(root, "closed"), 0o555);
    const workspace = createWorkspace({ root });
    const changes: readonly Change[] = [
      { type: "put", path: "a.txt", expected: workspace.versionOf("a"), text: "x" },
      { type: "put", path: "closed/b.txt", expected: workspace.versionOf("b"), text: "x" },
    ];
    for (const change of changes) assert.equal(code(await workspace.commit([change])), "no-access");
    chmodSync(join(root, "closed"), 0o755);
    assert.deepEqual(tree(root), { "a.txt": "a", "closed/": "", "closed/b.txt": "b" });
  });

  it("does not wait on a pipe", { skip: process.platform === "win32" }, async () => {
    const root = emptyRoot();
    execFileSync("sh", ["-c", "mkfifo pipe"], { cwd: root });
    assert.equal(code(await createWorkspace({ root }).read("pipe")), "not-a-file");
    assert.equal(code(await createWorkspace({ root: "/" }).read("/dev/null")), "not-a-file");
  });

  it("leaves the other name of a hard-linked file alone", async () => {
    const root = emptyRoot();
    put(root, "a.txt", "a");
    linkSync(join(root, "a.txt"), join(root, "b.txt"));
    const workspace = createWorkspace({ root });
    await workspace.commit([{ type: "put", path: "a.txt", expected: workspace.versionOf("a"), text: "x" }]);
    assert.deepEqual(tree(root), { "a.txt": "x", "b.txt": "a" });
  });
});

describe("symbolic links", () => {
  it("are followed inside and never out", async () => {
    const root = emptyRoot();
    const outside = emptyRoot();
    put(root, "real/a.txt", "a");
    put(outside, "secret.txt", "s");
    const links: Readonly<Record<string, string>> = {
      folder: join(root, "real"),
      "file.txt": "real/a.txt",
      out: outside,
      "out.txt": join(outside, "secret.txt"),
      dangling: join(outside, "new.txt"),
      within: "real/new.txt",
      circle: "circle",
    };
    for (const [name, target] of Object.entries(links)) symlinkSync(target, join(root, name));
    const workspace = createWorkspace({ root });
    assert.equal(await workspace.resolve("folder/a.txt"), "real/a.txt");
    assert.equal(await workspace.resolve("file.txt"), "real/a.txt");
    assert.equal(await workspace.resolve("within"), "real/new.txt");
    for (const path of ["out", "out/secret.txt", "out/new/x", "out.txt", "dangling"]) {
      assert.equal(code(await workspace.read(path)), "outside-workspace", path);
      const created = await workspace.commit([{ type: "put", path, expected: null, text: "x" }]);
      assert.equal(code(created), "outside-workspace", path);
    }
    assert.equal(code(await workspace.read("circle")), "no-access");
    const version = workspace.versionOf("a");
    const committed = await workspace.commit([
      { type: "put", path: "file.txt", expected: version, text: "b" },
    ]);
    assert.equal(isFailure(committed) ? committed.text : committed[0]?.path, "real/a.txt");
    assert.ok(lstatSync(join(root, "file.txt")).isSymbolicLink());
    const deleted = await workspace.commit([
      { type: "delete", path: "file.txt", expected: workspace.versionOf("b") },
    ]);
    assert.equal(code(deleted), "not-a-file");
    assert.equal(readFileSync(join(root, "real/a.txt"), "utf8"), "b");
    assert.deepEqual(readdirSync(outside), ["secret.txt"]);
  });
});
