import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, describe, it } from "node:test";
import { searchConformance } from "@lathe/testkit";
import { createSearch } from "./create-search.ts";

const folder = mkdtempSync(join(tmpdir(), "lathe-search-"));
after(() => rmSync(folder, { recursive: true }));

function put(root: string, path: string, content: string | Uint8Array): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), content);
}

function emptyRoot(): string {
  return mkdtempSync(join(folder, "root-"));
}

searchConformance("ripgrep", () => {
  const root = emptyRoot();
  return { search: createSearch({ root }), put: (path, content) => put(root, path, content) };
});

const signal = new AbortController().signal;

describe("createSearch", () => {
  it("does not let a folder above ignore everything", async () => {
    const above = emptyRoot();
    put(above, ".gitignore", "*\n");
    for (const repository of [true, false]) {
      const root = join(above, `project-${repository}`);
      put(root, "src/a.txt", "x\n");
      if (repository) put(root, ".git/HEAD", "ref: refs/heads/main\n");
      assert.deepEqual(await createSearch({ root }).files({ limit: 9 }, signal), {
        paths: ["src/a.txt"],
        more: false,
        leftOut: 0,
      });
    }
  });

  it("heeds the repository's .gitignore from a folder below", async () => {
    const above = emptyRoot();
    put(above, ".git/HEAD", "ref: refs/heads/main\n");
    put(above, ".gitignore", "build\n");
    put(above, "app/build/x.js", "");
    put(above, "app/x.js", "");
    const found = await createSearch({ root: join(above, "app") }).files({ limit: 9 }, signal);
    assert.deepEqual(found, { paths: ["x.js"], more: false, leftOut: 0 });
  });

  it("matches over several lines when the pattern asks for it, and looks around", async () => {
    const root = emptyRoot();
    put(root, "a.txt", "one\ntwo\nthree\n");
    const search = createSearch({ root });
    const lines = async (pattern: string) => {
      const found = await search.grep({ pattern, limit: 9 }, signal);
      return "lines" in found ? found.lines.map((line) => line.line) : found.text;
    };
    assert.deepEqual(await lines("one\\ntwo"), [1, 2]);
    assert.deepEqual(await lines("t(?=h)"), [3]);
  });

  it("says what to install when ripgrep is not there", async () => {
    const found = await createSearch({ root: emptyRoot(), ripgrep: "/nowhere/rg" }).files(
      { limit: 1 },
      signal,
    );
    assert.match("text" in found ? found.text : "", /ripgrep could not be started/);
  });
});
