/** Symbolic links are followed inside the workspace, never out of it, and never replaced. */
import assert from "node:assert/strict";
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, describe, it } from "node:test";
import { type Change, type Failure, isFailure } from "@lathe/protocol";
import { succeeded } from "@lathe/testkit";
import { createWorkspace } from "./create-workspace.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "lathe-links-")));
after(() => rmSync(folder, { recursive: true }));

function emptyRoot(): string {
  return mkdtempSync(join(folder, "root-"));
}

function put(root: string, path: string, content: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), content);
}

function code(result: unknown): Failure["code"] | undefined {
  return isFailure(result) ? result.code : undefined;
}

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
    const workspace = createWorkspace({ root, journal: `${root}-state` });
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
    const move = (path: string, to: string): Change => {
      return { type: "move", path, to, expected: workspace.versionOf("b") };
    };
    const committed = await workspace.commit([
      { type: "put", path: "file.txt", expected: version, text: "b" },
    ]);
    assert.equal(isFailure(committed) ? committed.text : committed[0]?.path, "real/a.txt");
    assert.ok(lstatSync(join(root, "file.txt")).isSymbolicLink());
    const deleted = await workspace.commit([
      { type: "delete", path: "file.txt", expected: workspace.versionOf("b") },
    ]);
    assert.equal(code(deleted), "not-a-file");
    const moved = await workspace.commit([move("file.txt", "other.txt")]);
    assert.equal(code(moved), "not-a-file");
    for (const to of ["out/x", "dangling"]) {
      assert.equal(code(await workspace.commit([move("real/a.txt", to)])), "outside-workspace");
    }
    succeeded(
      await workspace.commit([
        { type: "put", path: "within", expected: null, text: "w" },
        move("folder/a.txt", "folder/b.txt"),
      ]),
    );
    assert.equal(readFileSync(join(root, "real/new.txt"), "utf8"), "w");
    assert.equal(readFileSync(join(root, "real/b.txt"), "utf8"), "b");
    succeeded(await workspace.commit([move("real/b.txt", "real/a.txt")]));
    assert.equal(readFileSync(join(root, "real/a.txt"), "utf8"), "b");
    assert.deepEqual(readdirSync(outside), ["secret.txt"]);
  });
});
