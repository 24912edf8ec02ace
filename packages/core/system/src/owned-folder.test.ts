import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { makeOwnedFolder, orphanedFolders } from "./owned-folder.ts";

const module = JSON.stringify(new URL("owned-folder.ts", import.meta.url).href);

describe("an owned folder", () => {
  let temp: string;
  let children: ChildProcess[];

  beforeEach(() => {
    temp = mkdtempSync(join(tmpdir(), "lathe-system-test-"));
    children = [];
  });
  afterEach(() => {
    for (const child of children) child.kill("SIGKILL");
    rmSync(temp, { recursive: true });
  });

  /** A process that creates one, prints its path, and waits. */
  async function maker(kind: string): Promise<{ readonly path: string; readonly child: ChildProcess }> {
    const script = `const { makeOwnedFolder } = await import(${module});
      process.stdout.write(makeOwnedFolder(${JSON.stringify(kind)}, ${JSON.stringify(temp)}));
      process.stdin.resume();`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    children.push(child);
    const [path] = (await once(child.stdout, "data")) as [Buffer];
    return { path: path.toString(), child };
  }

  it("is private to its creator, and no orphan while that runs", async () => {
    const own = makeOwnedFolder("box", temp);
    const other = await maker("box");
    assert.notEqual(own, other.path);
    assert.equal(statSync(own).mode & 0o777, 0o700);
    assert.deepEqual(orphanedFolders("box", temp), []);
  });

  it("is an orphan once its creator was killed, only among those of its kind", async () => {
    const [box, tool] = [await maker("box"), await maker("tool")];
    for (const { child } of [box, tool]) {
      child.kill("SIGKILL");
      await once(child, "exit");
    }
    assert.deepEqual(orphanedFolders("box", temp), [box.path]);
    assert.deepEqual(orphanedFolders("tool", temp), [tool.path]);
    assert.deepEqual(orphanedFolders("bo", temp), []);
  });

  it("is not recognized by its name alone: elsewhere, truncated, a link or a file", async () => {
    const { path, child } = await maker("box");
    child.kill("SIGKILL");
    await once(child, "exit");
    const name = basename(path);
    const parts = name.split("-");
    mkdirSync(join(temp, [...parts.slice(0, 4), "00000000", ...parts.slice(5)].join("-")));
    mkdirSync(join(temp, name.slice(0, -1)));
    mkdirSync(join(temp, `${name}-more`));
    symlinkSync(path, join(temp, `${name.slice(0, -6)}zzzzzz`));
    assert.deepEqual(orphanedFolders("box", temp), [path]);
  });

  it("is created only where that is possible", () => {
    assert.throws(() => makeOwnedFolder("box", join(temp, "none")), { code: "ENOENT" });
    assert.deepEqual(orphanedFolders("box", join(temp, "none")), []);
  });
});
