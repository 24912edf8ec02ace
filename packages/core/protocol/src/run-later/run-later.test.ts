/** Checks the list of files that run later, and that spellings which a disk treats as equal are found. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { spelledRunLaterPaths } from "@lathe/testkit";
import { findRunLater, runLaterBelow, runLaterEntries } from "./run-later.ts";

describe("files that run later", () => {
  it("are listed once each, in lower case, with a source and a reason", () => {
    const paths = runLaterEntries.flatMap((entry) => entry.paths);
    assert.equal(new Set(paths).size, paths.length);
    for (const { paths: own, reader, why, source } of runLaterEntries) {
      assert.ok(own.length > 0 && reader !== "" && why !== "" && source !== "", own.join());
      for (const path of own) {
        assert.equal(path, path.toLowerCase());
        // A walk of the workspace can decide this by a name and its parent folders.
        assert.match(path, /^[^*]*[^/*]*\*?[^/*]*\/?$/u);
        assert.doesNotMatch(path, /\*.*\/|^\//u);
      }
    }
  });

  it("are found in every spelling and in every folder", () => {
    for (const { path, listed } of spelledRunLaterPaths()) {
      for (const name of [path, `/home/me/project/${path}`])
        assert.ok(findRunLater(name)?.entry.paths.includes(listed), `${name} is ${listed}`);
    }
  });

  it("do not include similar names", () => {
    const others =
      "vscode/a .vscodex/a a.vscode mise.toml.md lefthook.go cargo/config.toml .cargo/bin/x .github/workflows/ci.yml a/mise/b";
    for (const path of others.split(" ")) assert.equal(findRunLater(path), undefined, path);
    assert.equal(findRunLater("mise.toml/x"), undefined);
  });

  it("are known below their parent folders", () => {
    const below = (name: string) =>
      runLaterBelow(name).map(({ path, isFolder }) => path + (isFolder ? "/" : ""));
    assert.deepEqual(below(".CARGO"), ["config.toml", "config"]);
    assert.deepEqual(below(".yarn"), ["releases/", "plugins/"]);
    assert.deepEqual(below(".vscode"), []);
  });
});
