/** Denied effects are found in the errors that programs really print, and nothing else is offered. */
import assert from "node:assert/strict";
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { makeOutsideFolder } from "@lathe/testkit";
import { deniedIn } from "./denials.ts";

// Not below /tmp: commands have their own.
const root = makeOutsideFolder();
const at = (...names: string[]): string => join(root, ...names);
for (const name of ["home/.cache", "home/.ssh", "data", "work/.git"])
  mkdirSync(at(name), { recursive: true });
writeFileSync(at("home/.ssh/id"), "key");
writeFileSync(at("data/in.csv"), "1");
symlinkSync(at("data"), at("link"));
after(() => rmSync(root, { recursive: true }));

const outside = { home: at("home"), writable: [at("work")], readable: ["/usr"] };
const denied = (output: string): readonly string[] =>
  deniedIn(output, outside).map(({ kind, target }) => `${kind} ${target.replace(root, "")}`);

describe("effects that the sandbox denied", () => {
  const writes: readonly (readonly [who: string, output: string])[] = [
    ["coreutils", `touch: cannot touch '${at("data/new")}': Read-only file system`],
    ["bash", `bash: line 1: ${at("data/new")}: Read-only file system`],
    ["node", `Error: EROFS: read-only file system, open '${at("data/new")}'`],
    ["python", `OSError: [Errno 30] Read-only file system: '${at("data/new")}'`],
    ["go", `open ${at("data/new")}: read-only file system`],
    ["java", `java.io.FileNotFoundException: ${at("data/new")} (Permission denied)`],
    ["touch where nothing is seen", `touch: cannot touch '${at("data/new")}': No such file or directory`],
    ["bash where nothing is seen", `bash: line 1: ${at("data/new")}: No such file or directory`],
    ["dash where nothing is seen", `save.sh: 1: cannot create ${at("data/new")}: Directory nonexistent`],
    ["tee where nothing is seen", `tee: ${at("data/sub/new")}: No such file or directory`],
    ["node where nothing is seen", `Error: ENOENT: no such file or directory, mkdir '${at("data/sub/new")}'`],
    ["git", `error: could not lock config file ${at("data/new")}: Permission denied`],
  ];
  for (const [who, output] of writes) {
    it(`include a write, in the words of ${who}`, () => assert.deepEqual(denied(output), ["write /data"]));
  }

  it("include a read, if an existing file was not visible", () => {
    assert.deepEqual(denied(`cat: ${at("data/in.csv")}: No such file or directory`), ["read /data/in.csv"]);
    assert.deepEqual(denied(`ENOENT: no such file or directory, open '${at("home/.ssh/id")}'`), [
      "read /home/.ssh/id",
    ]);
  });

  it("include a write, if a shell could not append to an existing file", () => {
    const line = `save.sh: 1: cannot create ${at("data/in.csv")}: Directory nonexistent`;
    assert.deepEqual(denied(line), ["write /data/in.csv"]);
  });

  it("use the real path", () => {
    assert.deepEqual(denied(`touch: cannot touch '${at("link/new")}': Read-only file system`), [
      "write /data",
    ]);
  });

  it("are listed once each, up to a limit", () => {
    const line = `cat: ${at("data/in.csv")}: No such file or directory\n`;
    assert.equal(denied(line.repeat(50)).length, 1);
  });

  const others: readonly (readonly [what: string, output: string])[] = [
    ["a file that is not there at all", `cat: ${at("data/none.csv")}: No such file or directory`],
    ["an error in the workspace", `bash: ${at("work/run.sh")}: Permission denied`],
    ["git's own files", `error: ${at("work/.git/config")}: Read-only file system`],
    ["the whole home", `mkdir: cannot create directory '${at("home/.tool")}': Read-only file system`],
    ["the system", "cp: cannot create regular file '/usr/local/bin/x': Read-only file system"],
    ["the kernel's files", "bash: /proc/sys/kernel/core_pattern: Read-only file system"],
    ["the root", "mkdir: cannot create directory '/newroot': Read-only file system"],
    ["words without a path", "npm error code EACCES permission denied"],
    ["a path without an error", `reading ${at("data/in.csv")} went well`],
    ["a relative path", "cat: data/in.csv: No such file or directory"],
    ["an address", "GET http://host/usr/data: Permission denied"],
  ];
  for (const [what, output] of others)
    it(`are empty for ${what}`, () => assert.deepEqual(denied(output), []));
});
