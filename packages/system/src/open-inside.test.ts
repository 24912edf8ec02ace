import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  closeSync,
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
import { openInside } from "./open-inside.ts";

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

  it("is read where it is inside the folder", () => {
    const file = openInside(root, "d/f");
    assert.equal(readFileSync(file, "utf8"), "inside");
    closeSync(file);
  });

  it("is refused where a folder on the way is a link, or it is one itself", () => {
    renameSync(join(root, "d"), join(root, "away"));
    symlinkSync(join(temp, "outside"), join(root, "d"));
    assert.throws(() => openInside(root, "d/f"), { code: "ENOTDIR" });
    symlinkSync(join(temp, "outside", "f"), join(root, "link"));
    assert.throws(() => openInside(root, "link"), { code: /ELOOP|EINVAL/ });
  });

  it("is no folder, no pipe and no path that leaves", () => {
    assert.throws(() => openInside(root, "d"), { code: "EINVAL" });
    assert.throws(() => openInside(root, "../outside/f"), { code: "EINVAL" });
    assert.throws(() => openInside(root, ""), { code: "EINVAL" });
    assert.throws(() => openInside(root, "none"), { code: "ENOENT" });
    execFileSync("mkfifo", [join(root, "pipe")]);
    assert.throws(() => openInside(root, "pipe"), { code: "EINVAL" });
  });
});
