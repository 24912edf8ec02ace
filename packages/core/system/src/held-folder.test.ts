import assert from "node:assert/strict";
import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { holdBelow, holdFolder, withEntry, withFolder, withParent } from "./held-folder.ts";

const onLinux = { skip: existsSync("/proc/self/fd") ? false : "only where /proc shows descriptors" };

describe("a held folder", () => {
  let temp: string;
  let inside: string;
  let outside: string;

  beforeEach(() => {
    temp = realpathSync(mkdtempSync(join(tmpdir(), "lathe-held-folder-")));
    inside = join(temp, "root", "d");
    outside = join(temp, "outside");
    mkdirSync(inside, { recursive: true });
    mkdirSync(outside);
    writeFileSync(join(inside, "f"), "inside");
    writeFileSync(join(outside, "f"), "outside");
  });
  afterEach(() => rmSync(temp, { recursive: true }));

  function swap(): void {
    renameSync(inside, `${inside}.away`);
    symlinkSync(outside, inside);
  }

  it("reads, writes, renames and removes in the folder it opened, even after a swap", onLinux, () => {
    withFolder(inside, (folder) => {
      swap();
      assert.equal(folder.isHeld, true);
      const file = folder.open("f");
      assert.equal(readFileSync(file, "utf8"), "inside");
      closeSync(file);
      closeSync(folder.open("new", constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600));
      renameSync(folder.at("new"), folder.at("renamed"));
      unlinkSync(folder.at("f"));
      assert.deepEqual(
        folder.list().map(({ name }) => name),
        ["renamed"],
      );
    });
    assert.deepEqual(readdirSync(outside), ["f"]);
    assert.deepEqual(readdirSync(`${inside}.away`), ["renamed"]);
  });

  it("is not opened through a link anywhere in the path", () => {
    swap();
    assert.throws(() => holdFolder(inside), { code: "ENOTDIR" });
    mkdirSync(join(outside, "sub"));
    assert.throws(() => holdFolder(join(inside, "sub")), { code: "ENOTDIR" });
    const root = holdFolder(join(temp, "root"));
    assert.throws(() => holdBelow(root, "d/sub"), { code: "ENOTDIR" });
    root.close();
  });

  it("opens no link, and waits for no pipe", () => {
    symlinkSync(join(outside, "f"), join(inside, "link"));
    withFolder(inside, (folder) => {
      assert.throws(() => folder.open("link"), { code: "ELOOP" });
      assert.equal(folder.lstat("link")?.isSymbolicLink(), true);
      assert.equal(folder.readlink("link"), join(outside, "f"));
      assert.equal(folder.lstat("none"), undefined);
    });
  });

  it("takes only single names", () => {
    withFolder(inside, (folder) => {
      for (const name of ["", ".", "..", "a/b", "../outside", "a\0b"]) {
        assert.throws(() => folder.at(name), { code: "EINVAL" });
        assert.throws(() => folder.at(Buffer.from(name)), { code: "EINVAL" });
      }
    });
    assert.throws(() => holdFolder("relative"), { code: "EINVAL" });
    assert.throws(() => holdFolder(`${temp}/root/../outside`), { code: "EINVAL" });
    assert.throws(() => withParent("/", () => undefined), { code: "EINVAL" });
  });

  it("is found below another by bytes that are no UTF-8", () => {
    const name = Buffer.from([0x61, 0xff, 0x62]);
    mkdirSync(Buffer.concat([Buffer.from(`${inside}/`), name]));
    withFolder(inside, (folder) => {
      const below = holdBelow(folder, name);
      assert.equal(below.stats().isDirectory(), true);
      below.close();
      assert.deepEqual(
        folder
          .listBytes()
          .filter((entry) => entry.isDirectory())
          .map((entry) => entry.name),
        [name],
      );
      const same = holdBelow(folder, "");
      assert.equal(same.stats().ino, folder.stats().ino);
      same.close();
    });
  });

  it("gives the parent of a path and its last name", () => {
    withParent(join(inside, "f"), (folder, name) => {
      const file = folder.open(name);
      assert.equal(fstatSync(file).isFile(), true);
      closeSync(file);
      assert.equal(folder.path, inside);
    });
    withParent("/tmp", (folder, name) => assert.equal(folder.lstat(name)?.isDirectory(), true));
  });

  it("holds an entry for calls that would follow a link", onLinux, () => {
    symlinkSync(join(outside, "f"), join(inside, "link"));
    withFolder(inside, (folder) => {
      assert.throws(() => withEntry(folder.at("link"), () => assert.fail()), { code: "ELOOP" });
      withEntry(folder.at("f"), (reached, stats) => {
        renameSync(join(inside, "link"), join(inside, "f"));
        assert.equal(stats.isFile(), true);
        chmodSync(reached, 0o600);
        assert.equal(readFileSync(reached, "utf8"), "inside");
      });
    });
    assert.notEqual(statSync(join(outside, "f")).mode & 0o777, 0o600);
  });

  it("notices a swap before each use, if descriptors cannot be held", async () => {
    const platform = Object.getOwnPropertyDescriptor(process, "platform");
    assert.ok(platform);
    Object.defineProperty(process, "platform", { ...platform, value: "darwin" });
    try {
      const module = "./held-folder.ts?without-proc";
      const { holdFolder: hold } = (await import(module)) as { holdFolder: typeof holdFolder };
      const folder = hold(inside);
      assert.equal(folder.isHeld, false);
      closeSync(folder.open("f"));
      symlinkSync("f", join(inside, "link"));
      assert.throws(() => folder.open("link"), { code: "ELOOP" });
      renameSync(join(temp, "root"), join(temp, "away"));
      symlinkSync(join(temp, "outside"), join(temp, "root"));
      mkdirSync(join(outside, "d"));
      writeFileSync(join(outside, "d", "f"), "outside");
      assert.throws(() => folder.open("f"), { code: "ENOTDIR" });
      assert.throws(() => folder.list(), { code: "ENOTDIR" });
      assert.throws(() => hold(inside), { code: "ENOTDIR" });
    } finally {
      Object.defineProperty(process, "platform", platform);
    }
  });

  it("leaves no descriptor open, even if opening fails", onLinux, () => {
    const open = (): number => readdirSync("/proc/self/fd").length;
    const before = open();
    withFolder(inside, () => undefined);
    assert.throws(() => holdFolder(join(inside, "none", "x")), { code: "ENOENT" });
    assert.throws(() => withFolder(inside, () => assert.fail()));
    assert.equal(open(), before);
  });
});
