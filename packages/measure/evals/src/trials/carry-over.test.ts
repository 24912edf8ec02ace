/** Grading uses an agent's changes to sources, but not to tests. */
import assert from "node:assert/strict";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, it } from "node:test";
import { carryOver, isProtected } from "./carry-over.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "carry-over-"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const put = (path: string, text: string): void => {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
};
const read = (path: string): string | undefined =>
  existsSync(join(root, path)) ? readFileSync(join(root, path), "utf8") : undefined;

it("carries changed, new and deleted sources, and keeps tests, runner settings and packages", async () => {
  for (const folder of ["base", "agent", "target"]) {
    put(`${folder}/src/a.js`, "old");
    put(`${folder}/src/gone.js`, "old");
    put(`${folder}/test/a.test.js`, "real");
    put(`${folder}/node_modules/x/index.js`, "real");
    put(`${folder}/conftest.py`, "real");
  }
  put("agent/src/a.js", "new");
  put("agent/src/made/b.js", "new");
  rmSync(join(root, "agent/src/gone.js"));
  put("agent/test/a.test.js", "always passes");
  put("agent/node_modules/x/index.js", "always passes");
  put("agent/conftest.py", "always passes");
  put("agent/tests/__init__.py", "always passes");
  put("agent/vitest.config.ts", "always passes");
  put("agent/.git/hooks/x", "x");
  symlinkSync("a.js", join(root, "agent/src/link.js"));
  await carryOver(join(root, "agent"), join(root, "base"), join(root, "target"));
  assert.equal(read("target/src/a.js"), "new");
  assert.equal(read("target/src/made/b.js"), "new");
  assert.equal(read("target/src/gone.js"), undefined);
  assert.equal(read("target/src/link.js"), "new");
  for (const path of ["test/a.test.js", "node_modules/x/index.js", "conftest.py"])
    assert.equal(read(`target/${path}`), "real");
  for (const path of ["tests/__init__.py", "vitest.config.ts", ".git/hooks/x"])
    assert.equal(read(`target/${path}`), undefined);
});

it("follows no link out of the folder, and lets a folder replace a file", async () => {
  put("base/a", "old");
  put("target/a", "old");
  put("agent/a/b", "new");
  put("base/c/d", "old");
  put("target/c/d", "old");
  put("agent/c", "new");
  put("secret", "secret");
  symlinkSync(join(root, "secret"), join(root, "agent", "leak"));
  await carryOver(join(root, "agent"), join(root, "base"), join(root, "target"));
  assert.equal(read("target/a/b"), "new");
  assert.equal(read("target/c"), "new");
  assert.equal(isProtected("pkg/tests/helper.py"), true);
  assert.equal(isProtected("src/contest.py"), false);
});

it("carries no runner settings from an agent, whatever file they are in", () => {
  const names =
    "package.json pyproject.toml setup.cfg tox.ini pytest.ini babel.config.js .babelrc .babelrc.json vitest.workspace.ts jest.setup.js .mocharc.cjs vite.config.ts packages/a/package.json";
  assert.deepEqual(
    names.split(" ").filter((name) => !isProtected(name)),
    [],
  );
  for (const name of ["src/package.json.js", "setup.py", "src/babel.js", "my-package.json"])
    assert.equal(isProtected(name), false, name);
});

it("writes nothing through a task's link that an agent replaced by a folder", async () => {
  put("victim/kept", "kept");
  for (const folder of ["base", "target"]) {
    mkdirSync(join(root, folder), { recursive: true });
    symlinkSync(join(root, "victim"), join(root, folder, "a.test.js"));
  }
  put("agent/a.test.js/kept", "changed");
  put("agent/a.test.js/new", "new");
  await carryOver(join(root, "agent"), join(root, "base"), join(root, "target"));
  assert.equal(read("victim/kept"), "kept");
  assert.equal(read("victim/new"), undefined);
});
