/** Which folders a PATH makes visible inside a sandbox. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, it } from "node:test";
import { toolchainPaths } from "./toolchains.ts";

const home = realpathSync(mkdtempSync(join(tmpdir(), "lathe-home-")));
after(() => rmSync(home, { recursive: true, force: true }));

function shown(folders: readonly string[]): readonly string[] {
  for (const folder of folders) mkdirSync(join(home, folder), { recursive: true });
  const path = folders.map((folder) => join(home, folder)).join(":");
  return toolchainPaths(path, home, ["/usr", "/bin"]).map((found) => found.slice(home.length + 1));
}

it("a toolchain is shown whole, and once", () => {
  assert.deepEqual(shown([".nvm/versions/node/v24/bin", ".pyenv/shims", ".pyenv/bin"]), [
    ".pyenv",
    ".nvm/versions/node/v24",
  ]);
});

it("the home itself never is, nor what lies beside its programs", () => {
  mkdirSync(join(home, ".local/share/keyrings"), { recursive: true });
  mkdirSync(join(home, ".cargo/bin"), { recursive: true });
  assert.deepEqual(shown(["bin", ".local/bin", ".cargo/bin"]).toSorted(), [
    ".cargo/bin",
    ".local/bin",
    "bin",
  ]);
});

it("a PATH that names the home or the root shows nothing", () => {
  assert.deepEqual(toolchainPaths(`${home}:/:.:`, home, ["/usr"]), []);
});
