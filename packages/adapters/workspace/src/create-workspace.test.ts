import assert from "node:assert/strict";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, describe, it } from "node:test";
import { type Change, type Failure, failure, isFailure, type WithLease } from "@lathe/protocol";
import { type WorkspaceUnderTest, workspaceConformance } from "@lathe/testkit";
import { fc } from "@lathe/testkit/properties";
import { createWorkspace } from "./create-workspace.ts";
import { type Disk, nodeDisk } from "./disk/disk.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "lathe-workspace-")));
after(() => rmSync(folder, { recursive: true }));

function put(root: string, path: string, content: string | Uint8Array): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), content);
}

/** Every file and, with a slash, every folder; links are marked. */
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

for (const isJournalled of [false, true]) {
  workspaceConformance(`a local folder ${isJournalled ? "with" : "without"} a journal`, () =>
    localFolder(isJournalled ? { journal: join(emptyRoot(), "state", "journal") } : {}),
  );
}

function localFolder(journal: { readonly journal?: string }): WorkspaceUnderTest {
  const root = emptyRoot();
  let lost: Failure | undefined;
  const workspace = createWorkspace({ root, ...journal, withLease: async (effect) => lost ?? effect() });
  const files = (): Readonly<Record<string, string>> =>
    Object.fromEntries(Object.entries(tree(root)).filter(([path]) => !path.endsWith("/")));
  const loseOwnership = (): void => {
    lost = failure("stale-epoch", "somebody else owns the session");
  };
  return { workspace, put: (path, content) => put(root, path, content), files, loseOwnership };
}

/** A disk whose n-th change throws; if `dead`, so do all later ones. */
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
    copy: guarded("copy", nodeDisk.copy),
    rename: guarded("rename", nodeDisk.rename),
    link: guarded("link", nodeDisk.link),
    symlink: guarded("symlink", nodeDisk.symlink),
    writeAt: guarded("writeAt", nodeDisk.writeAt),
    chmod: guarded("chmod", nodeDisk.chmod),
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

  it("restores a single file, whatever fails", async () => {
    const property = fc.asyncProperty(fc.integer({ min: 1, max: 6 }), fc.string(), async (fails, text) => {
      const root = emptyRoot();
      put(root, "a.txt", "a");
      const workspace = createWorkspace({ root, disk: faultyDisk(fails, "ENOSPC").disk });
      const change: Change = { type: "put", path: "a.txt", expected: workspace.versionOf("a"), text };
      const result = await workspace.commit([change]);
      assert.equal(readFileSync(join(root, "a.txt"), "utf8"), isFailure(result) && fails < 3 ? "a" : text);
    });
    await fc.assert(property, { numRuns: 8 });
  });

  it("works on disks without hard links", async () => {
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
    const withLease: WithLease = (effect) => {
      put(root, "a.txt", "theirs");
      return effect();
    };
    const workspace = createWorkspace({ root, withLease });
    const change: Change = { type: "put", path: "a.txt", expected: workspace.versionOf("a"), text: "ours" };
    assert.equal(code(await workspace.commit([change])), "stale-version");
    assert.deepEqual(tree(root), { "a.txt": "theirs" });
  });
});
