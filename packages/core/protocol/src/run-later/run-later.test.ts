/** The list of files that run later is in order, and found by any spelling that a disk may take for the same. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { spelledRunLaterPaths } from "@lathe/testkit";
import { findRunLater, runLaterBelow, runLaterEntries } from "./run-later.ts";

describe("files that run later", () => {
  it("are listed once each, in small letters, with a source and a reason", () => {
    const paths = runLaterEntries.flatMap((entry) => entry.paths);
    assert.equal(new Set(paths).size, paths.length);
    for (const { paths: own, reader, why, source } of runLaterEntries) {
      assert.ok(own.length > 0 && reader !== "" && why !== "" && source !== "", own.join());
      for (const path of own) {
        assert.equal(path, path.toLowerCase());
        // What the walk of a workspace can tell by a name and the folders above it.
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

  it("are not what only looks like one", () => {
    const others =
      "vscode/a .vscodex/a a.vscode mise.toml.md lefthook.go cargo/config.toml .cargo/bin/x .github/workflows/ci.yml a/mise/b";
    for (const path of others.split(" ")) assert.equal(findRunLater(path), undefined, path);
    assert.equal(findRunLater("mise.toml/x"), undefined);
  });

  it("are known below the folders that lead to them", () => {
    const below = (name: string) =>
      runLaterBelow(name).map(({ path, isFolder }) => path + (isFolder ? "/" : ""));
    assert.deepEqual(below(".CARGO"), ["config.toml", "config"]);
    assert.deepEqual(below(".yarn"), ["releases/", "plugins/"]);
    assert.deepEqual(below(".vscode"), []);
  });
});
