/** Tests how Lathe finds out the way it was installed. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { installationOf, ownRoot, updateCommand } from "./installation.ts";

function makeFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "lathe-installation-"));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

function put(path: string, text: string): void {
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, text);
}

describe("an installation", () => {
  it("is the clone that contains these sources", () => {
    const found = installationOf(ownRoot);
    assert.deepEqual(found, { how: "clone", folder: ownRoot });
    assert.match(updateCommand(found) ?? "", /git pull && npm ci && npm run setup$/);
  });

  it("finds the clone that it was set up from, as long as that exists", (t) => {
    const folder = makeFolder(t);
    const root = join(folder, "lib", "node_modules", "lathe-agent");
    const clone = join(folder, "a clone");
    put(join(root, "installed-from.json"), JSON.stringify({ clone }));
    const found = installationOf(root);
    assert.deepEqual(found, { how: "setup", folder: clone });
    assert.equal(updateCommand(found), undefined);
    put(join(clone, "scripts", "setup.mjs"), "");
    assert.equal(updateCommand(found), `cd '${clone}' && git pull && npm ci && npm run setup`);
  });

  it("is a global package, or a package of a project", () => {
    const global = installationOf("/opt/npm/lib/node_modules/lathe-agent");
    assert.deepEqual(global, { how: "global", folder: "/opt/npm" });
    assert.match(updateCommand(global) ?? "", /^npm install --global --prefix \/opt\/npm /);
    const project = installationOf("/home/ada/shop/node_modules/lathe-agent");
    assert.deepEqual(project, { how: "project", folder: "/home/ada/shop" });
    assert.match(updateCommand(project) ?? "", /^cd \/home\/ada\/shop && npm install /);
  });

  it("ignores an unreadable note", (t) => {
    const root = join(makeFolder(t), "lib", "node_modules", "lathe-agent");
    for (const text of ["{", "[]", '{"clone":1}']) {
      put(join(root, "installed-from.json"), text);
      assert.equal(installationOf(root).how, "global", text);
    }
  });
});
