/** A file is read in the place where its path was looked up, or not at all. */
import assert from "node:assert/strict";
import {
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { isFailure } from "@lathe/protocol";
import { failedWith } from "@lathe/testkit";
import { createWorkspace } from "../create-workspace.ts";
import { listFolder, stampOf } from "./list-folder.ts";
import { nearNames } from "./near-names.ts";
import { readBytes, readText } from "./read-file.ts";
import { type Resolved, resolvePath } from "./resolve-path.ts";
import { otherSpelling } from "./spelling.ts";

describe("a path whose folder is swapped for a link after it was looked up", () => {
  let temp: string;
  let root: string;
  let outside: string;

  beforeEach(() => {
    temp = realpathSync(mkdtempSync(join(tmpdir(), "lathe-swapped-")));
    root = join(temp, "root");
    outside = join(temp, "outside");
    for (const folder of [join(root, "d"), outside]) {
      mkdirSync(join(folder, "sub"), { recursive: true });
      for (const name of ["f", "sub/f"]) writeFileSync(join(folder, name), folder);
    }
    writeFileSync(join(outside, "secret-name"), "");
  });
  afterEach(() => rmSync(temp, { recursive: true }));

  function resolved(path: string): Resolved {
    const found = resolvePath(root, path);
    assert.ok(!isFailure(found));
    return found;
  }

  function swap(): void {
    renameSync(join(root, "d"), join(root, "away"));
    symlinkSync(outside, join(root, "d"));
  }

  it("is not read, listed or stamped", () => {
    const files = ["d/f", "d/sub/f"].map(resolved);
    const folders = ["d", "d/sub"].map(resolved);
    swap();
    for (const file of files) {
      failedWith("outside-workspace", readText(file));
      failedWith("outside-workspace", readBytes(file));
      assert.equal(stampOf(file), undefined);
    }
    for (const folder of folders) failedWith("outside-workspace", listFolder(folder));
  });

  it("is not read if the last part is the link", () => {
    const file = resolved("d/f");
    unlinkSync(join(root, "d/f"));
    symlinkSync(join(outside, "f"), join(root, "d/f"));
    failedWith("outside-workspace", readText(file));
    assert.equal(stampOf(file), undefined);
  });

  it("is not read if it did not exist before", () => {
    const file = resolved("new/f");
    symlinkSync(outside, join(root, "new"));
    failedWith("outside-workspace", readText(file));
  });

  it("suggests no names from there", async () => {
    swap();
    for (const path of ["d/secret-nam", "../outside/secret-nam", "away/../d/secret-nam"])
      assert.deepEqual(nearNames(root, path), []);
    assert.equal(otherSpelling(join(root, "d/SECRET-NAME")), undefined);
  });

  it("is refused outside the workspace, too", async () => {
    const { outside: files } = createWorkspace({ root });
    symlinkSync(outside, join(temp, "link"));
    const link = join(temp, "link");
    failedWith("outside-workspace", await files.read(join(link, "f")));
    failedWith("outside-workspace", await files.list(link));
    failedWith("outside-workspace", await files.bytes(join(link, "f"), 100));
    assert.deepEqual(await files.list(join(outside, "sub")), [
      { name: "f", kind: "file", size: outside.length },
    ]);
  });

  it("differs from links inside, which are followed", async () => {
    symlinkSync("d", join(root, "link"));
    const workspace = createWorkspace({ root });
    const read = await workspace.read("link/sub/f");
    assert.ok(!isFailure(read));
    assert.equal(read.path, "d/sub/f");
    failedWith("not-a-file", await workspace.list("link/f"));
    failedWith("not-a-file", await workspace.read("link"));
  });
});
