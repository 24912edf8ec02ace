/** Commits of files with special modes, links or names, and files that others change. */
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
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { after, describe, it } from "node:test";
import { type Change, type Failure, isFailure, type WithLease } from "@lathe/protocol";
import { failedWith, succeeded, treeOf } from "@lathe/testkit";
import { createWorkspace, type LocalWorkspace } from "./create-workspace.ts";
import { type Disk, nodeDisk } from "./disk/disk.ts";
import { isLike, otherSpelling } from "./reading/spelling.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "lathe-nature-")));
after(() => rmSync(folder, { recursive: true }));
const { versionOf } = createWorkspace({ root: folder });

function emptyRoot(): string {
  return join(mkdtempSync(join(folder, "root-")));
}

function put(root: string, path: string, content: string | Uint8Array): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), content);
}

function open(
  root: string,
  more: { readonly disk?: Disk; readonly withLease?: WithLease } = {},
): LocalWorkspace {
  return createWorkspace({ root, journal: `${root}-state`, ...more });
}

function code(result: unknown): Failure["code"] | undefined {
  return isFailure(result) ? result.code : undefined;
}

function write(path: string, from: string | null, text: string): Change {
  return { type: "put", path, expected: from === null ? null : versionOf(from), text };
}

function move(path: string, to: string, [from, text]: readonly [string, string?]): Change {
  return { type: "move", path, to, expected: versionOf(from), ...(text !== undefined && { text }) };
}

function modeOf(root: string, path: string): number {
  return statSync(join(root, path)).mode & 0o7777;
}

const isRoot = process.getuid?.() === 0;

describe("a file's mode", () => {
  it("is kept by a replacement and by a move, with and without new text", async () => {
    for (const mode of [0o600, 0o640, 0o644, 0o751, 0o755]) {
      const root = emptyRoot();
      for (const path of ["a", "b", "c"]) {
        put(root, path, "1");
        chmodSync(join(root, path), mode);
      }
      const workspace = open(root);
      const changes = [write("a", "1", "2"), move("b", "new/b", ["1"]), move("c", "new/c", ["1", "2"])];
      succeeded(await workspace.commit(changes));
      for (const path of ["a", "new/b", "new/c"]) assert.equal(modeOf(root, path), mode, path);
      succeeded(await workspace.commit([write("a", "2", "3")]));
      assert.equal(modeOf(root, "a"), mode);
    }
  });

  it("of a new file is the user's default", async () => {
    const root = emptyRoot();
    succeeded(await open(root).commit([write("a", null, "1"), write("b/c", null, "1")]));
    put(root, "theirs", "");
    assert.equal(modeOf(root, "a"), modeOf(root, "theirs"));
    assert.equal(modeOf(root, "b/c"), modeOf(root, "theirs"));
  });

  it("never lets new text run as another user", async () => {
    const root = emptyRoot();
    for (const path of ["a", "b", "c"]) {
      put(root, path, "1");
      chmodSync(join(root, path), 0o6755);
    }
    succeeded(await open(root).commit([write("a", "1", "2")]));
    succeeded(await open(root).commit([move("b", "moved", ["1"]), move("c", "changed", ["1", "2"])]));
    assert.deepEqual(
      ["a", "moved", "changed"].map((path) => modeOf(root, path)),
      [0o755, 0o6755, 0o755],
    );
  });

  it("is unchanged after a rollback", async () => {
    const root = emptyRoot();
    put(root, "a", "1");
    put(root, "b", "1");
    chmodSync(join(root, "a"), 0o600);
    const before = statSync(join(root, "a"));
    let renames = 0;
    const rename = (from: string, to: string): void => {
      renames += 1;
      if (renames === 2) throw Object.assign(new Error("full"), { code: "ENOSPC" });
      nodeDisk.rename(from, to);
    };
    const failed = await open(root, { disk: { ...nodeDisk, rename } }).commit([
      write("a", "1", "2"),
      write("b", "1", "2"),
    ]);
    failedWith("disk-full", failed);
    assert.deepEqual(treeOf(root), { a: "1", b: "1" });
    const back = statSync(join(root, "a"));
    assert.deepEqual([back.mode, back.ino, back.mtimeMs], [before.mode, before.ino, before.mtimeMs]);
  });

  it("protects a read-only file and a read-only folder", {
    skip: isRoot && "root may write everything; see real-disk.test.ts",
  }, async () => {
    const root = emptyRoot();
    put(root, "a.txt", "a");
    put(root, "closed/b.txt", "b");
    chmodSync(join(root, "a.txt"), 0o444);
    chmodSync(join(root, "closed"), 0o555);
    for (const change of [write("a.txt", "a", "x"), write("closed/b.txt", "b", "x")]) {
      assert.equal(code(await open(root).commit([change])), "no-access");
    }
    chmodSync(join(root, "closed"), 0o755);
    assert.deepEqual(treeOf(root), { "a.txt": "a", "closed/": "", "closed/b.txt": "b" });
  });
});

describe("a file's nature", () => {
  it("never waits for a pipe, and never replaces one", { skip: process.platform === "win32" }, async () => {
    const root = emptyRoot();
    execFileSync("sh", ["-c", "mkfifo pipe"], { cwd: root });
    put(root, "a", "a");
    assert.equal(code(await open(root).read("pipe")), "not-a-file");
    assert.equal(code(await createWorkspace({ root: "/" }).read("/dev/null")), "not-a-file");
    assert.equal(code(await open(root).commit([write("pipe", null, "x")])), "not-a-file");
    assert.equal(code(await open(root).commit([move("a", "pipe", ["a"])])), "not-a-file");
    assert.ok(lstatSync(join(root, "pipe")).isFIFO());
  });

  it("keeps the other names of a hard-linked file, like git and most editors", async () => {
    const root = emptyRoot();
    for (const path of ["a", "c", "e"]) put(root, path, "1");
    linkSync(join(root, "a"), join(root, "b"));
    linkSync(join(root, "c"), join(root, "d"));
    linkSync(join(root, "e"), join(root, "f"));
    succeeded(
      await open(root).commit([write("a", "1", "2"), move("c", "C", ["1", "3"]), move("e", "E", ["1"])]),
    );
    assert.deepEqual(treeOf(root), { C: "3", E: "1", a: "2", b: "1", d: "1", f: "1" });
    assert.equal(statSync(join(root, "E")).ino, statSync(join(root, "f")).ino);
  });

  it("changes two names of one file in one commit", async () => {
    const root = emptyRoot();
    put(root, "a", "1");
    linkSync(join(root, "a"), join(root, "b"));
    succeeded(await open(root).commit([write("a", "1", "2"), write("b", "1", "3")]));
    assert.deepEqual(treeOf(root), { a: "2", b: "3" });
  });

  it("replaces files of any size, and refuses to read what is no UTF-8 text", async () => {
    const root = emptyRoot();
    const large = "line\n".repeat(2_500_000);
    put(root, "large", large);
    succeeded(await open(root).commit([write("large", large, `${large}end`), write("copy", null, large)]));
    assert.equal(readFileSync(join(root, "large"), "utf8"), `${large}end`);
    put(root, "utf-16le", Buffer.from("\uFEFFtext", "utf16le"));
    put(root, "utf-16be", Buffer.from([0xfe, 0xff, 0, 65]));
    put(root, "latin1", Buffer.from("caf\u00e9", "latin1"));
    put(root, "binary", new Uint8Array([1, 0, 2]));
    const texts: Readonly<Record<string, RegExp>> = {
      "utf-16le": /UTF-16.*iconv/,
      "utf-16be": /UTF-16.*iconv/,
      latin1: /not valid UTF-8.*iconv/,
      binary: /binary.*xxd/,
      large: /limit is 10/,
    };
    for (const [path, text] of Object.entries(texts)) {
      const refused = await open(root).read(path);
      assert.match(isFailure(refused) ? refused.text : "", text, path);
    }
  });

  it("refuses impossible names, and writes nothing to try them", async () => {
    const root = emptyRoot();
    put(root, "folder/x", "x");
    put(root, "a", "a");
    const long = "n".repeat(300);
    const refused: readonly (readonly [Failure["code"], Change])[] = [
      ["invalid-arguments", write(long, null, "x")],
      ["invalid-arguments", write(`${"d/".repeat(3000)}x`, null, "x")],
      ["invalid-arguments", write("a\0b", null, "x")],
      ["invalid-arguments", move("a", long, ["a"])],
      ["invalid-arguments", move("a", "b\0", ["a"])],
      ["not-a-file", write("folder", null, "x")],
      ["not-a-file", write(".", null, "x")],
      ["not-found", write("a/b", null, "x")],
      ["not-a-file", { type: "delete", path: "folder", expected: versionOf("") }],
      ["not-a-file", move("folder", "b", ["a"])],
    ];
    for (const [expected, change] of refused) {
      const result = await open(root).commit([write("new/first", null, "1"), change]);
      assert.equal(code(result), expected, JSON.stringify(change).slice(0, 80));
    }
    assert.deepEqual(treeOf(root), { a: "a", "folder/": "", "folder/x": "x" });
    const longest = "n".repeat(255);
    succeeded(await open(root).commit([write(longest, null, "1"), write("a", "a", "b")]));
    assert.equal(readFileSync(join(root, longest), "utf8"), "1");
  });
});

describe("another process's work", () => {
  const cases: Readonly<Record<string, readonly [Failure["code"], (root: string) => void]>> = {
    "a changed file": ["stale-version", (root) => put(root, "b", "theirs")],
    "a file of the same size, changed at the same time": [
      "stale-version",
      (root) => {
        const { mtime, atime } = statSync(join(root, "b"));
        put(root, "b", "2");
        utimesSync(join(root, "b"), atime, mtime);
      },
    ],
    "a file that is gone": ["stale-version", (root) => rmSync(join(root, "b"))],
    "a file that has other permissions": ["stale-version", (root) => chmodSync(join(root, "b"), 0o700)],
    "a file made where one was to be": ["already-exists", (root) => put(root, "n/m", "theirs")],
    "a file made where one was to be moved": ["already-exists", (root) => put(root, "moved", "theirs")],
    "a file made where a folder was to be": ["already-exists", (root) => put(root, "n", "theirs")],
    "a link put in place of a file": [
      "stale-version",
      (root) => {
        put(root, "elsewhere", "1");
        rmSync(join(root, "b"));
        symlinkSync("elsewhere", join(root, "b"));
      },
    ],
    "a link out put in place of a folder": [
      "stale-version",
      (root) => {
        renameSync(join(root, "d"), `${root}-outside`);
        symlinkSync(`${root}-outside`, join(root, "d"));
      },
    ],
    "a folder put in place of a file": [
      "stale-version",
      (root) => {
        rmSync(join(root, "b"));
        mkdirSync(join(root, "b"));
      },
    ],
  };
  for (const [name, [expected, interfere]] of Object.entries(cases)) {
    it(`is left alone between plan and effect: ${name}`, async () => {
      const root = emptyRoot();
      for (const path of ["a", "b", "c", "d/e"]) put(root, path, "1");
      let theirs: unknown;
      const withLease: WithLease = (effect) => {
        interfere(root);
        theirs = withoutTemporary(root);
        return effect();
      };
      const changes = [
        write("a", "1", "2"),
        write("b", "1", "2"),
        write("n/m", null, "2"),
        move("c", "moved", ["1"]),
        write("d/e", "1", "2"),
      ];
      assert.equal(code(await open(root, { withLease }).commit(changes)), expected);
      assert.deepEqual(treeOf(root), theirs);
    });
  }

  it("is not lost if it happens at the very moment of the effect", async () => {
    const root = emptyRoot();
    put(root, "a", "1");
    const link = (from: string, to: string): void => {
      if (to.endsWith("/n")) put(root, "n", "theirs");
      nodeDisk.link(from, to);
    };
    const failed = await open(root, { disk: { ...nodeDisk, link } }).commit([
      write("a", "1", "2"),
      write("n", null, "2"),
    ]);
    failedWith("already-exists", failed);
    assert.deepEqual(treeOf(root), { a: "1", n: "theirs" });
  });
});

function withoutTemporary(root: string): unknown {
  return Object.fromEntries(Object.entries(treeOf(root)).filter(([path]) => !path.includes(".lathe-")));
}

describe("names that a disk treats as one", () => {
  /** Like on a Mac: a name is taken if another spelling of it exists. */
  function insensitiveDisk(): Disk {
    const link = (from: string, to: string): void => {
      // The path goes through its folder's descriptor.
      if (otherSpelling(join(realpathSync(dirname(to)), basename(to))))
        throw Object.assign(new Error("exists"), { code: "EEXIST" });
      nodeDisk.link(from, to);
    };
    return { ...nodeDisk, link };
  }

  it("are refused, with both names in the message", async () => {
    const root = emptyRoot();
    put(root, "readme.md", "r");
    const workspace = open(root, { disk: insensitiveDisk() });
    for (const changes of [
      [write("README.md", null, "x")],
      [write("other", null, "x"), write("README.md", null, "x")],
      [write("new/A", null, "1"), write("new/a", null, "2")],
      [write("cafe\u0301", null, "1"), write("caf\u00e9", null, "2")],
    ]) {
      const refused = await workspace.commit(changes);
      failedWith("already-exists", refused);
      assert.match(
        isFailure(refused) ? refused.text : "",
        /already exists as .*this disk takes the two names for one/,
      );
      assert.deepEqual(treeOf(root), { "readme.md": "r" });
    }
  });

  it("are two if the disk says so", async () => {
    const root = emptyRoot();
    put(root, "probe", "");
    const isSensitive = !readdirSync(root).includes("PROBE") && !isThere(join(root, "PROBE"));
    if (!isSensitive) return;
    succeeded(
      await open(root).commit([write("A", null, "1"), write("a", null, "2"), write("b/x", null, "3")]),
    );
    assert.deepEqual(treeOf(root), { A: "1", a: "2", "b/": "", "b/x": "3", probe: "" });
  });

  it("are suggested for one in another Unicode form", async () => {
    const root = emptyRoot();
    put(root, "cafe\u0301.txt", "x");
    const missing = await open(root).read("caf\u00e9.txt");
    if (isFailure(missing)) assert.match(missing.text, /Near names: cafe\u0301\.txt/);
    assert.ok(isLike("CAF\u00c9", "cafe\u0301"));
    assert.equal(otherSpelling(join(root, "Caf\u00e9.TXT")), "cafe\u0301.txt");
    assert.equal(otherSpelling(join(root, "cafe\u0301.txt")), undefined);
  });
});

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
