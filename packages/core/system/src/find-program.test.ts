/** Programs are found where the user installed them, never in a repository. */
import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { after, it } from "node:test";
import { findProgram, hostPath } from "./find-program.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "lathe-programs-")));
after(() => rmSync(folder, { recursive: true }));

const own = join(folder, "own");
const workspace = join(folder, "workspace");
const inside = join(workspace, "node_modules/.bin");
for (const one of [own, inside]) {
  mkdirSync(one, { recursive: true });
  writeFileSync(join(one, "tool"), "#!/bin/sh\n", { mode: 0o755 });
}
writeFileSync(join(own, "data"), "", { mode: 0o644 });
mkdirSync(join(own, "folder"));
symlinkSync(join(inside, "tool"), join(own, "led"));
symlinkSync(inside, join(folder, "leading"));

const path = (...entries: readonly string[]): string => entries.join(delimiter);

it("takes the first valid one", () => {
  const before = process.cwd();
  process.chdir(workspace);
  try {
    for (const entry of ["node_modules/.bin", "", ".", inside, `${workspace}/../workspace/node_modules/.bin`])
      assert.equal(
        findProgram("tool", { path: path(entry, own), outside: [workspace] }),
        join(own, "tool"),
        entry,
      );
    assert.equal(findProgram("tool", { path: "node_modules/.bin" }), undefined);
    assert.equal(findProgram("tool", { path: join(folder, "leading"), outside: [workspace] }), undefined);
  } finally {
    process.chdir(before);
  }
  assert.equal(findProgram("tool", { path: inside }), join(inside, "tool"));
});

it("takes only executable files, and only plain names", () => {
  chmodSync(join(own, "data"), 0o644);
  for (const name of ["data", "folder", "none", "led", "./tool", join(own, "tool")])
    assert.equal(findProgram(name, { path: own, outside: [workspace] }), undefined, name);
  assert.equal(findProgram("tool", { path: undefined }), undefined);
});

it("keeps the folders of PATH outside the workspace", () => {
  const place = { path: path("", ".", inside, own, "bin", join(folder, "leading")), outside: [workspace] };
  assert.equal(hostPath(place), own);
});
