import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { InsideOpener, openInside } from "./open-inside.ts";

const onLinux = { skip: existsSync("/proc/self/fd") ? false : "only where /proc shows descriptors" };

describe("a file opened inside a folder", () => {
  let temp: string;
  let root: string;

  beforeEach(() => {
    temp = realpathSync(mkdtempSync(join(tmpdir(), "lathe-open-inside-")));
    root = join(temp, "root");
    mkdirSync(join(root, "d"), { recursive: true });
    writeFileSync(join(root, "d", "f"), "inside");
    mkdirSync(join(temp, "outside"));
    writeFileSync(join(temp, "outside", "f"), "outside");
  });
  afterEach(() => rmSync(temp, { recursive: true }));

  const ways: Readonly<Record<string, () => (path: string) => number>> = {
    "at once": () => (path) => openInside(root, path),
    "by an opener of many": () => {
      const opener = new InsideOpener(root);
      return (path) => {
        try {
          return opener.open(path);
        } finally {
          opener.close();
        }
      };
    },
  };
  for (const [way, makeOpen] of Object.entries(ways)) {
    describe(way, () => {
      const open = (path: string): number => makeOpen()(path);

      it("is read if it is inside the folder", () => {
        const file = open("d/f");
        assert.equal(readFileSync(file, "utf8"), "inside");
        closeSync(file);
      });

      it("is refused if it is a link, or a folder in its path is one", () => {
        renameSync(join(root, "d"), join(root, "away"));
        symlinkSync(join(temp, "outside"), join(root, "d"));
        assert.throws(() => open("d/f"), { code: "ENOTDIR" });
        symlinkSync(join(temp, "outside", "f"), join(root, "link"));
        assert.throws(() => open("link"), { code: /ELOOP|EINVAL/ });
      });

      it("must be no folder, no pipe and no path that leaves", () => {
        assert.throws(() => open("d"), { code: "EINVAL" });
        assert.throws(() => open("../outside/f"), { code: "EINVAL" });
        assert.throws(() => open(""), { code: "EINVAL" });
        assert.throws(() => open("none"), { code: "ENOENT" });
        execFileSync("mkfifo", [join(root, "pipe")]);
        assert.throws(() => open("pipe"), { code: "EINVAL" });
      });
    });
  }

  it("comes from the held folder even after a swap", onLinux, () => {
    const opener = new InsideOpener(root);
    closeSync(opener.open("d/f"));
    renameSync(join(root, "d"), join(root, "away"));
    symlinkSync(join(temp, "outside"), join(root, "d"));
    const file = opener.open("d/f");
    assert.equal(readFileSync(file, "utf8"), "inside");
    closeSync(file);
    opener.close();
    assert.throws(() => opener.open("d/f"), { code: "ENOTDIR" });
  });
});
