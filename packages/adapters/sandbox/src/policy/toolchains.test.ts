/** Which folders a PATH makes visible in a sandbox. */
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

it("shows a toolchain whole, and once", () => {
  lies(".nvm/versions/node/v24/lib/x", ".pyenv/.git/HEAD", ".pyenv/versions/x");
  assert.deepEqual(shown([".nvm/versions/node/v24/bin", ".pyenv/shims", ".pyenv/bin"]), [
    ".pyenv",
    ".nvm/versions/node/v24",
  ]);
});

it("never shows the home, or private files beside its programs", () => {
  mkdirSync(join(home, ".local/share/keyrings"), { recursive: true });
  mkdirSync(join(home, ".cargo/bin"), { recursive: true });
  assert.deepEqual(shown(["bin", ".local/bin", ".cargo/bin"]).toSorted(), [
    ".cargo/bin",
    ".local/bin",
    "bin",
  ]);
});

it("shows the files beside a program only in a toolchain", () => {
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

it("does not show a folder for its programs if it contains the workspace", () => {
  lies("all/lib/x", "all/bin/x", "all/project/a.ts");
  const found = toolchainPaths(join(home, "all/bin"), ["/usr", join(home, "all/project")]);
  assert.deepEqual(found, [join(home, "all/bin")]);
});

it("searches again after the machine got another toolchain", () => {
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

it("shows nothing for a PATH that names the home or the root", () => {
  assert.deepEqual(toolchainPaths(`${home}:/:.:`, ["/usr"]), []);
});
