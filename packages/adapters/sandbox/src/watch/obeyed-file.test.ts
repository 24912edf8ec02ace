/** Whether something makes a file run although its name does not say so: git's settings, or a link. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { obeyedReason } from "./obeyed-file.ts";

describe("an obeyed file", () => {
  let root: string;
  let workspace: string;
  const write = (name: string, text = ""): void => {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  };
  const isObeyed = (name: string, place = workspace): boolean =>
    obeyedReason(join(workspace, name), { workspace: place, home: join(root, "home") }) !== undefined;
  beforeEach(() => {
    root = realpathSync(mkdtempSync(join(tmpdir(), "lathe-obeyed-")));
    workspace = join(root, "w");
    for (const name of ["w/.git/objects/x", "w/.git/refs/x", "w/tools/f.sh", "w/src/a.ts"]) write(name);
    write("w/.git/HEAD", "ref: refs/heads/main\n");
  });
  afterEach(() => rmSync(root, { recursive: true }));

  it("is one that the repository's or the user's settings name", () => {
    assert.equal(isObeyed("scripts/hooks/pre-commit"), false);
    write(
      "w/.git/config",
      '[core]\n\thooksPath = scripts/hooks\n[filter "z"]\n\tclean = ./tools/f.sh -a\n\tsmudge = tools/new.sh\n',
    );
    for (const name of ["scripts/hooks/pre-commit", "scripts/hooks/a/b", "tools/f.sh", "tools/new.sh"])
      assert.equal(isObeyed(name), true, name);
    for (const name of ["scripts/hooks.md", "tools/g.sh", "src/a.ts"])
      assert.equal(isObeyed(name), false, name);
    assert.equal(isObeyed("tools/f.sh", join(workspace, "tools")), true, "in a part of the repository");
    write("home/.gitconfig", "[core]\n\tfsmonitor = src/a.ts\n");
    assert.equal(isObeyed("src/a.ts"), true);
  });

  it("is one that a link puts in place of a file that runs later", () => {
    symlinkSync("editor", join(workspace, ".vscode"));
    symlinkSync("rust", join(workspace, ".cargo"));
    symlinkSync("src/a.ts", join(workspace, ".envrc"));
    for (const name of ["w/editor/a", "w/rust/config.toml", "w/rust/other"]) write(name);
    for (const name of ["editor/tasks.json", "rust/config.toml", "src/a.ts"])
      assert.equal(isObeyed(name), true, name);
    for (const name of ["rust/other", "src/b.ts", "editors/a"]) assert.equal(isObeyed(name), false, name);
  });
});
