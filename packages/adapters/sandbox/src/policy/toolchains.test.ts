/** Which folders a PATH makes visible inside a sandbox. */
import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, it } from "node:test";
import { toolchains } from "./toolchains.ts";

const home = realpathSync(mkdtempSync(join(tmpdir(), "lathe-home-")));
after(() => rmSync(home, { recursive: true, force: true }));

function toolchainPaths(path: string, under: readonly string[]): readonly string[] {
  return toolchains(path, home, under).value.map((found) => found.path);
}

function shown(folders: readonly string[]): readonly string[] {
  for (const folder of folders) mkdirSync(join(home, folder), { recursive: true });
  const path = folders.map((folder) => join(home, folder)).join(":");
  return toolchainPaths(path, ["/usr", "/bin"]).map((found) => found.slice(home.length + 1));
}

function lies(...paths: readonly string[]): void {
  for (const path of paths) {
    mkdirSync(join(home, path, ".."), { recursive: true });
    writeFileSync(join(home, path), "");
  }
}

it("a toolchain is shown whole, and once", () => {
  lies(".nvm/versions/node/v24/lib/x", ".pyenv/.git/HEAD", ".pyenv/versions/x");
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

it("what lies beside programs is shown only where it is a toolchain's", () => {
  lies("work/.env", "work/lib/x", "plain/notes.txt", "venv/pyvenv.cfg", "repo/.git/HEAD", "repo/lib/x");
  lies("other/lib/x", "other/.bashrc");
  const paths = ["work", "plain", "venv", "repo", "other"].map((name) => `${name}/bin`);
  assert.deepEqual(shown([...paths, "app/node_modules/.bin"]).toSorted(), [
    "app/node_modules",
    "other/bin",
    "plain/bin",
    "repo/bin",
    "venv",
    "work/bin",
  ]);
});

it("a folder that holds the workspace is not shown for its programs", () => {
  lies("all/lib/x", "all/bin/x", "all/project/a.ts");
  const found = toolchainPaths(join(home, "all/bin"), ["/usr", join(home, "all/project")]);
  assert.deepEqual(found, [join(home, "all/bin")]);
});

it("is looked for again once the machine has another one", () => {
  const path = `${join(home, "later/bin")}:${join(home, "links")}`;
  const version = (): number => toolchains(path, home, ["/usr"]).version;
  const first = version();
  assert.deepEqual(toolchainPaths(path, ["/usr"]), []);
  lies("later/bin/x", "later/lib/x");
  assert.deepEqual(toolchainPaths(path, ["/usr"]), [join(home, "later")]);
  lies("later/.env");
  assert.deepEqual(toolchainPaths(path, ["/usr"]), [join(home, "later/bin")]);
  const before = version();
  assert.notEqual(before, first);
  lies("far/tool/bin/node", "far/tool/lib/x", "links/x");
  symlinkSync(join(home, "far/tool/bin/node"), join(home, "links/node"));
  assert.deepEqual(toolchainPaths(path, ["/usr"]).toSorted(), [join(home, "later/bin"), join(home, "links")]);
  chmodSync(join(home, "far/tool/bin/node"), 0o755);
  assert.equal(toolchainPaths(path, ["/usr"]).includes(join(home, "far/tool")), true);
  rmSync(join(home, "far"), { recursive: true });
  assert.equal(toolchainPaths(path, ["/usr"]).includes(join(home, "far/tool")), false);
});

it("a PATH that names the home or the root shows nothing", () => {
  assert.deepEqual(toolchainPaths(`${home}:/:.:`, ["/usr"]), []);
});
