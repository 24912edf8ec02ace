import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, it } from "node:test";
import { type Instructions, nestedInstructions, readInstructions } from "./instructions.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "lathe-instructions-"));
});
afterEach(() => rmSync(folder, { recursive: true }));
const read = (cwd: string): Instructions => readInstructions({ cwd, env: { HOME: join(folder, "home") } });

it("prefers AGENTS.md, and reads CLAUDE.md without it", () => {
  assert.deepEqual(read(folder), { texts: [], remarks: [] });
  writeFileSync(join(folder, "CLAUDE.md"), "claude");
  assert.deepEqual(read(folder).texts, [{ path: "CLAUDE.md", text: "claude" }]);
  writeFileSync(join(folder, "AGENTS.md"), "agents");
  assert.deepEqual(read(folder).texts, [{ path: "AGENTS.md", text: "agents" }]);
});

it("cuts a long file between characters and reports where the rest is", () => {
  writeFileSync(join(folder, "AGENTS.md"), `${"ä".repeat(5000)}x`);
  const { texts, remarks } = read(folder);
  const text = texts[0]?.text ?? "";
  assert.match(text, /^ä{4096}\n\[cut at 8192 bytes: read AGENTS\.md for the rest\]$/);
  assert.match(remarks.join(), /^AGENTS\.md is longer than 8 KB/);
});

it("skips and reports a file that leads out of the workspace, is not regular, or would block", () => {
  const workspace = join(folder, "workspace");
  mkdirSync(workspace);
  writeFileSync(join(folder, "secret"), "secret");
  symlinkSync("../secret", join(workspace, "AGENTS.md"));
  execFileSync("sh", ["-c", 'mkfifo "$0"', join(workspace, "CLAUDE.md")]);
  const { texts, remarks } = read(workspace);
  assert.deepEqual(texts, []);
  assert.match(
    remarks.join("\n"),
    /AGENTS\.md leads out of the workspace\n.*CLAUDE\.md is not a regular file/,
  );
});

it("follows a link that stays in the workspace", () => {
  writeFileSync(join(folder, "CLAUDE.md"), "claude");
  symlinkSync("CLAUDE.md", join(folder, "AGENTS.md"));
  assert.deepEqual(read(folder).texts, [{ path: "AGENTS.md", text: "claude" }]);
});

it("gives those of folders, the outer ones first, with the rest named where they are long", async () => {
  const give = nestedInstructions(folder, async (text) => text.replace("sk-secret", "[key]"));
  for (const path of ["a/b", "c"]) mkdirSync(join(folder, path), { recursive: true });
  writeFileSync(join(folder, "a/AGENTS.md"), "outer sk-secret");
  writeFileSync(join(folder, "a/b/CLAUDE.md"), "inner");
  assert.deepEqual(await give(["a", "a/b", "c", "missing", "../x"]), [
    { path: "a/AGENTS.md", text: "outer [key]" },
    { path: "a/b/CLAUDE.md", text: "inner" },
  ]);
  const many = ["1", "2", "3", "4"].map((name) => `long${name}`);
  for (const name of many) {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, "AGENTS.md"), "x".repeat(8000));
  }
  assert.deepEqual(
    (await give(many)).map(({ text }) => text.length > 100),
    [true, true, true, false],
  );
});

it("an empty file counts as missing", () => {
  writeFileSync(join(folder, "AGENTS.md"), " \n");
  writeFileSync(join(folder, "CLAUDE.md"), "claude");
  assert.deepEqual(read(folder), { texts: [{ path: "CLAUDE.md", text: "claude" }], remarks: [] });
});

it("gives the user's own, then those of the repository down to the workspace, the nearest for sure", () => {
  const cwd = join(folder, "repo/packages/one");
  mkdirSync(join(folder, "home/.config/lathe"), { recursive: true });
  mkdirSync(cwd, { recursive: true });
  const put = (path: string, text: string): void => writeFileSync(join(folder, path), text);
  put("AGENTS.md", "above the repository");
  put("home/.config/lathe/AGENTS.md", "mine");
  put("repo/AGENTS.md", "root");
  put("repo/packages/CLAUDE.md", "between");
  put("repo/packages/one/AGENTS.md", "here");
  const paths = (): readonly string[] =>
    read(cwd).texts.map(({ path, text }) => `${path}: ${text.slice(0, 20)}`);
  const own = join(folder, "home/.config/lathe/AGENTS.md");
  assert.deepEqual(paths(), [`${own}: mine`, "AGENTS.md: here"], "outside a repository");
  mkdirSync(join(folder, "repo/.git"));
  const above = ["../../AGENTS.md: root", "../CLAUDE.md: between"];
  assert.deepEqual(paths(), [`${own}: mine`, ...above, "AGENTS.md: here"]);
  rmSync(join(folder, "repo/AGENTS.md"));
  symlinkSync("../AGENTS.md", join(folder, "repo/AGENTS.md"));
  assert.deepEqual(paths(), [`${own}: mine`, "../CLAUDE.md: between", "AGENTS.md: here"]);
  for (const path of [
    "home/.config/lathe/AGENTS.md",
    "repo/packages/CLAUDE.md",
    "repo/packages/one/AGENTS.md",
  ])
    put(path, "x".repeat(9000));
  mkdirSync(join(cwd, "deep"));
  put("repo/packages/one/deep/AGENTS.md", "y".repeat(9000));
  const { texts } = read(join(cwd, "deep"));
  assert.deepEqual(
    texts.map(({ text }) => text.length > 8000),
    [false, true, true, true],
  );
});

it("reports files that are referenced but not included", () => {
  mkdirSync(join(folder, "docs"));
  writeFileSync(join(folder, "docs/style.md"), "style");
  writeFileSync(
    join(folder, "AGENTS.md"),
    "See @docs/style.md, @~/own.md and @team, `@docs/style.md`, a@docs/style.md.",
  );
  assert.deepEqual(read(folder).remarks, [
    "AGENTS.md names @docs/style.md, @~/own.md: the agent may read that, and is not given it",
  ]);
});
