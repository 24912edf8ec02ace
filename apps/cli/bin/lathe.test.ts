/** Tests the launcher: the answers of the shell, the choice of Node, and the message without one. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";

const bin = fileURLToPath(new URL("lathe.mjs", import.meta.url));
const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
const noNode = { PATH: "/nowhere" };

function run(
  command: string,
  args: readonly string[],
  options: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv } = {},
) {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: "utf8", ...options });
  return { status, stdout, stderr };
}

describe("bin/lathe.mjs", { skip: process.platform === "win32" }, () => {
  let folder = "";
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "lathe-bin-"));
    symlinkSync(bin, join(folder, "lathe"));
    mkdirSync(join(folder, "alone", "bin"), { recursive: true });
    copyFileSync(bin, join(folder, "alone", "bin", "lathe.mjs"));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  const answer = { status: 0, stdout: `${version}\n`, stderr: "" };

  it("answers --version without any Node", () => {
    assert.deepEqual(run(bin, ["--version"], { env: noNode }), answer);
  });

  it("answers --version through a symlink and by a bare name", () => {
    assert.deepEqual(run(join(folder, "lathe"), ["--version"]), answer);
    assert.deepEqual(run("sh", ["lathe.mjs", "--version"], { cwd: join(bin, "..") }), answer);
  });

  it("answers --version as a module", () => {
    assert.deepEqual(run(process.execPath, [bin, "--version"]), answer);
  });

  it("runs the command through a symlink, and as a module", () => {
    const shell = run(join(folder, "lathe"), ["--help"]);
    assert.equal(shell.status, 0, shell.stderr);
    assert.match(shell.stdout, /^Lathe, a coding agent\.\n\nUsage:\n {2}lathe \["task"\]/);
    assert.deepEqual(run(process.execPath, [bin, "--help"]), shell);
  });

  it("says in one line what to do when there is no Node", () => {
    mkdirSync(join(folder, "tools"));
    for (const place of ["/bin", "/usr/bin"]) {
      const found = run("/bin/sh", ["-c", `test -x ${place}/readlink`]).status === 0;
      if (found) symlinkSync(`${place}/readlink`, join(folder, "tools", "readlink"));
      if (found) break;
    }
    const alone = run(join(folder, "alone", "bin", "lathe.mjs"), ["--help"], {
      env: { PATH: join(folder, "tools") },
    });
    assert.equal(alone.status, 1);
    assert.match(alone.stderr, /^lathe: no Node found; install Node 22\.13 or newer.*\n$/);
  });
});
