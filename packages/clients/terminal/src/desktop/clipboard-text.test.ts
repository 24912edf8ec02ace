/** A text into the clipboard, as programs stand in for those of a desktop. */
import assert from "node:assert/strict";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import type { ClipboardPlace } from "./clipboard-program.ts";
import { writeClipboardText } from "./clipboard-text.ts";

describe("a text into the clipboard", { skip: process.platform === "win32" }, () => {
  let root: string;
  let cwd: string;
  let bin: string;
  beforeEach(() => {
    root = realpathSync(mkdtempSync(join(tmpdir(), "lathe-clipboard-")));
    [cwd, bin] = [join(root, "workspace"), join(root, "bin")] as [string, string];
    for (const folder of [cwd, bin]) mkdirSync(folder);
  });
  afterEach(() => rmSync(root, { recursive: true }));

  const program = (name: string, script = `{ echo "$0 $*"; cat; } > ${root}/got`, folder = bin): void =>
    writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  const write = (env: ClipboardPlace["env"], platform: NodeJS.Platform = "linux", text = "päper\n") =>
    writeClipboardText(text, { cwd, platform, env: { PATH: `${bin}:/usr/bin:/bin`, ...env } });
  const got = (): string => readFileSync(join(root, "got"), "utf8");

  it("goes to the program that the desktop has, or to tmux", async () => {
    for (const name of ["wl-copy", "xclip", "xsel", "pbcopy", "tmux"]) program(name);
    assert.equal(await write({ WAYLAND_DISPLAY: "wayland-0", DISPLAY: ":0", TMUX: "/tmp/t" }), "wl-copy");
    assert.equal(got(), `${bin}/wl-copy \npäper\n`);
    assert.equal(await write({ DISPLAY: ":0", TMUX: "/tmp/t" }), "xclip");
    assert.equal(got(), `${bin}/xclip -selection clipboard -in\npäper\n`);
    rmSync(join(bin, "xclip"));
    assert.equal(await write({ DISPLAY: ":0" }), "xsel");
    assert.equal(await write({}, "darwin"), "pbcopy");
    assert.equal(await write({ TMUX: "/tmp/t" }), "tmux");
    assert.equal(got(), `${bin}/tmux load-buffer -w -\npäper\n`);
  });

  it("is UTF-16 for Windows' own", async () => {
    program("clip.exe", `cat > ${root}/got`);
    assert.equal(await write({ WSL_DISTRO_NAME: "Ubuntu" }), "clip.exe");
    assert.equal(readFileSync(join(root, "got"), "utf16le"), "\ufeffpäper\n");
  });

  it("never to a desktop that is not in front of the person", async () => {
    for (const name of ["xclip", "tmux"]) program(name);
    const remote = { DISPLAY: "localhost:10.0", SSH_CONNECTION: "10.0.0.1 1 10.0.0.2 22" };
    assert.equal(await write(remote), undefined);
    assert.equal(await write({ ...remote, TMUX: "/tmp/t" }), "tmux");
  });

  it("tries the next where one fails, and waits for no child of it", async () => {
    program("wl-copy", "exit 1");
    program("xclip", `cat > ${root}/got; sleep 1000 & echo $! > ${root}/child`);
    assert.equal(await write({ WAYLAND_DISPLAY: "wayland-0", DISPLAY: ":0" }), "xclip");
    process.kill(Number(readFileSync(join(root, "child"), "utf8")));
    program("xclip", "exit 0");
    assert.equal(await write({ DISPLAY: ":0" }, "linux", "x".repeat(1e6)), "xclip", "one that reads nothing");
    assert.equal(await write({}), undefined);
  });

  it("runs no program of the workspace, and gives it no key of the user's", async () => {
    mkdirSync(join(cwd, "bin"));
    program("xclip", `touch ${root}/ran`, join(cwd, "bin"));
    assert.equal(await write({ DISPLAY: ":0", PATH: join(cwd, "bin") }), undefined);
    assert.equal(existsSync(join(root, "ran")), false);
    program("xclip", `env > ${root}/seen`);
    await write({ DISPLAY: ":0", ANTHROPIC_API_KEY: "secret" });
    assert.ok(!readFileSync(join(root, "seen"), "utf8").includes("secret"));
  });
});
