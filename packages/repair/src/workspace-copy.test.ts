/** Copies of a workspace: sources are files of their own, heavy folders are links, history and caches stay behind. */

import assert from "node:assert/strict";
import {
  appendFileSync,
  existsSync,
  lstatSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { newFolder, project } from "./workbench.test.ts";
import { copyWorkspace } from "./workspace-copy.ts";

const isLink = (path: string): boolean => lstatSync(path).isSymbolicLink();

describe("copyWorkspace", () => {
  it("copies files, and leaves history and caches behind", async () => {
    const root = await project({
      "src/a.py": "a\n",
      "b.bin": "\u0000",
      ".env": "A=1\n",
      ".git/HEAD": "ref\n",
      "src/__pycache__/a.pyc": "",
      ".pytest_cache/x": "",
    });
    const target = join(newFolder(), "copy");
    assert.deepEqual(await copyWorkspace(root, target), [".env", "b.bin", "src/a.py"]);
    writeFileSync(join(target, "src/a.py"), "changed\n");
    assert.equal(readFileSync(join(root, "src/a.py"), "utf8"), "a\n");
    for (const path of [".git", "src/__pycache__", ".pytest_cache"])
      assert.ok(!existsSync(join(target, path)));
  });

  it("leaves out what commands are not shown", async () => {
    const root = await project({ "a/state/secret/x": "1", "a/state/y": "2", "a/secret/z": "3" });
    const target = join(newFolder(), "copy");
    assert.deepEqual(await copyWorkspace(root, target, [join(root, "a/state/secret")]), [
      "a/secret/z",
      "a/state/y",
    ]);
    assert.ok(!existsSync(join(target, "a/state/secret")));
  });

  it("links what is installed, and keeps links inside the workspace inside the copy", async () => {
    const root = await project({
      "node_modules/left/index.js": "",
      "node_modules/@scope/right/index.js": "",
      "packages/own/index.js": "own\n",
      ".venv/pyvenv.cfg": "",
      "env/pyvenv.cfg": "",
    });
    symlinkSync("../packages/own", join(root, "node_modules/own"));
    const target = join(newFolder(), "copy");
    assert.deepEqual(await copyWorkspace(root, target), ["packages/own/index.js"]);
    assert.ok(isLink(join(target, "node_modules/left")) && isLink(join(target, "node_modules/@scope/right")));
    assert.ok(
      !isLink(join(target, "node_modules")) && isLink(join(target, ".venv")) && isLink(join(target, "env")),
    );
    assert.equal(readlinkSync(join(target, "node_modules/own")), "../packages/own");
    writeFileSync(join(target, "packages/own/index.js"), "changed\n");
    assert.equal(readFileSync(join(target, "node_modules/own/index.js"), "utf8"), "changed\n");
  });

  it("copies a folder of sources that is only called like an environment", async () => {
    const root = await project({ "env/__init__.py": "", "env/world.py": "x = 1\n" });
    const target = join(newFolder(), "copy");
    assert.deepEqual(await copyWorkspace(root, target), ["env/__init__.py", "env/world.py"]);
  });

  it("copies what is large or built too, so that nothing written there reaches the workspace", async () => {
    const root = await project({ "target/state.txt": "kept\n", "vendor/a.js": "kept\n" });
    writeFileSync(join(root, "big.db"), Buffer.alloc(2_000_001, 65));
    symlinkSync(join(root, "big.db"), join(root, "link.db"));
    const target = join(newFolder(), "copy");
    assert.deepEqual(await copyWorkspace(root, target), ["target/state.txt", "vendor/a.js"]);
    for (const path of ["target/state.txt", "vendor/a.js", "big.db", "link.db"])
      appendFileSync(join(target, path), "changed");
    assert.equal(readFileSync(join(root, "target/state.txt"), "utf8"), "kept\n");
    assert.equal(readFileSync(join(root, "vendor/a.js"), "utf8"), "kept\n");
    assert.equal(statSync(join(root, "big.db")).size, 2_000_001);
    assert.equal(statSync(join(target, "link.db")).size, 2_000_001 + 2 * "changed".length);
  });

  it("gives up on a workspace that is too large", async () => {
    const root = newFolder();
    writeFileSync(join(root, "huge.bin"), "");
    truncateSync(join(root, "huge.bin"), 600_000_000);
    const target = join(newFolder(), "copy");
    assert.equal(await copyWorkspace(root, target), undefined);
    assert.ok(!existsSync(join(target, "huge.bin")));
  });
});
