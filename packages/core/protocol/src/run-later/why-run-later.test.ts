/** Tests which changed files are reported because they may run or be followed after a session, and why. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type ChangedPath, changedScripts, whyRunLater } from "./why-run-later.ts";

const file = (path: string, more: Partial<ChangedPath> = {}): ChangedPath => ({
  path,
  what: "modified",
  modes: { before: 0o644, after: 0o644 },
  ...more,
});

describe("a changed file", () => {
  it("is reported if programs or later sessions run or follow it", () => {
    const told =
      "AGENTS.md sub/CLAUDE.md GEMINI.md .github/copilot-instructions.md .windsurfrules Makefile lib/rules.mk justfile " +
      "Taskfile.yml .github/workflows/ci.yml .gitlab-ci.yml .pre-commit-config.yaml Dockerfile build.rs .vscode/tasks.json " +
      "MAKEFILE agents.md .tool-versions flake.nix";
    for (const path of told.split(" ")) assert.notEqual(whyRunLater(file(path)), undefined, path);
    assert.equal(whyRunLater(file(".vscode/tasks.json")), "VS Code obeys it");
  });

  it("is not reported if it is the project's own code, or was deleted", () => {
    const others =
      "src/a.ts README.md tsconfig.json .gitignore .editorconfig docs/agents.md.txt makefile.txt package-lock.json";
    for (const path of others.split(" ")) assert.equal(whyRunLater(file(path)), undefined, path);
    assert.equal(whyRunLater(file("AGENTS.md", { what: "deleted" })), undefined);
  });

  it("is reported once it is executable", () => {
    const modes = { before: 0o644, after: 0o755 };
    assert.equal(whyRunLater(file("a.sh", { what: "mode", modes })), "new executable");
    assert.equal(whyRunLater(file("a.sh", { what: "added", modes: { after: 0o700 } })), "new executable");
    assert.equal(whyRunLater(file("a.sh", { modes: { before: 0o755, after: 0o755 } })), undefined);
    assert.equal(
      whyRunLater(file("a.sh", { what: "mode", modes: { before: 0o755, after: 0o644 } })),
      undefined,
    );
  });

  it("is reported if it is hidden, new and at the top", () => {
    assert.equal(whyRunLater(file(".foo", { what: "added" }), true), "new hidden file");
    assert.equal(whyRunLater(file(".foo/bar", { what: "added" }), true), "new hidden folder");
    for (const path of [".gitignore", ".prettierignore", "src/.foo", "foo"])
      assert.equal(whyRunLater(file(path, { what: "added" }), true), undefined, path);
    assert.equal(whyRunLater(file(".foo", { what: "added" })), undefined);
  });
});

describe("scripts of a manifest", () => {
  const manifest = (fields: object): string => JSON.stringify(fields);
  const changed = (before: object | undefined, after: object): string | undefined =>
    changedScripts("a/package.json", { before: before && manifest(before), after: manifest(after) });

  it("are named if they were added or changed", () => {
    const before = { name: "a", scripts: { test: "node t.js", build: "tsc" } };
    assert.equal(changed(before, { ...before, name: "b" }), undefined);
    assert.equal(changed(before, { scripts: { test: "node -e 0", build: "tsc" } }), "scripts: test");
    assert.equal(changed(before, { scripts: { build: "tsc" } }), undefined);
    assert.equal(changed(undefined, { scripts: { postinstall: "x" } }), "scripts: postinstall");
    assert.equal(
      changed(before, { ...before, "simple-git-hooks": { "pre-commit": "x" } }),
      "scripts: pre-commit",
    );
    const many = Object.fromEntries("abcdefg".split("").map((name) => [name, name]));
    assert.equal(changed({}, { scripts: many }), "scripts: a, b, c, d, e and 2 more");
  });

  it("count as changed if they cannot be read", () => {
    for (const after of ["{", "[]", "null", ""])
      assert.equal(changedScripts("package.json", { before: "{}", after }), "scripts may have changed");
    assert.equal(changedScripts("package.json", { before: "{}", after: undefined }), undefined);
  });
});
