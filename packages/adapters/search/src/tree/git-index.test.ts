import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, it } from "node:test";
import { readGitIndex, repositoryOf } from "./git-index.ts";

const folder = mkdtempSync(join(tmpdir(), "lathe-git-index-"));
after(() => rmSync(folder, { recursive: true }));

for (const version of ["2", "3", "4"]) {
  it(`reads what git lists, version ${version}`, () => {
    const root = mkdtempSync(join(folder, "r-"));
    const git = (...args: readonly string[]) =>
      execFileSync("git", ["-C", root, ...args], { encoding: "utf8" });
    git("init", "-q");
    mkdirSync(join(root, "a/b"), { recursive: true });
    for (const path of ["a/b/one.ts", "a/b/other.ts", "a/ünïcode.txt", "z", "a/intent"]) {
      writeFileSync(join(root, path), path);
      utimesSync(join(root, path), 1_700_000_000.5, 1_700_000_000.5);
    }
    git("add", "a/b", "a/ünïcode.txt", "z");
    // Version 3 has room for the flag that this sets.
    if (version === "3") git("add", "-N", "a/intent");
    git("update-index", "--force-write-index", "--index-version", version === "3" ? "3" : version);
    const listed = git("-c", "core.quotePath=false", "ls-files", "-s", "--", "a/b", "a/ünïcode.txt", "z");
    const expected = listed
      .trim()
      .split("\n")
      .map((line) => [line.split("\t")[1] ?? "", line.split(" ")[1] ?? ""]);
    const repository = repositoryOf(join(root, "a/b"));
    assert.equal(repository?.top, root);
    const read = readGitIndex(repository?.folder ?? "");
    const ours = expected.map(([path = ""]) => [path, read.get(path)?.id]);
    assert.deepEqual(ours, expected);
    assert.deepEqual(read.get("z")?.mtime, [1_700_000_000, 500_000_000]);
  });
}

it("reads nothing where there is none, or one that is torn", () => {
  assert.equal(readGitIndex(join(folder, "nowhere")).size, 0);
  const torn = mkdtempSync(join(folder, "torn-"));
  writeFileSync(
    join(torn, "index"),
    Buffer.concat([Buffer.from("DIRC\0\0\0\u0002\0\0\0\u0009"), Buffer.alloc(40)]),
  );
  assert.equal(readGitIndex(torn).size, 0);
});
