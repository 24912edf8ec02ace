/**
 * Files named by git's settings are held back wherever the folder is in its repository, however git finds it.
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import type { CopyDifference } from "@lathe/protocol";
import { spelledRunLaterPaths } from "@lathe/testkit";
import { heldBack } from "./held-back.ts";

const env = { PATH: process.env.PATH ?? "", GIT_CONFIG_NOSYSTEM: "1", GIT_CONFIG_GLOBAL: "/dev/null" };
const who = ["-c", "user.name=a", "-c", "user.email=a@b"];

it("every file that runs later is held back, in every spelling, and links in place of its folders", () => {
  const at = { base: "/nowhere/base", upper: "/nowhere/upper" };
  const added = (name: string, kind: "file" | "link"): CopyDifference => {
    const path = Buffer.from(name).toString("latin1");
    return {
      path,
      what: "added",
      base: { kind: "absent" },
      fork: { kind, mode: 0o644, size: 1 },
    } as unknown as CopyDifference;
  };
  const paths = spelledRunLaterPaths().map(({ path }) => path);
  assert.equal(
    heldBack(
      paths.map((path) => added(path, "file")),
      at,
    ).size,
    new Set(paths).size,
  );
  assert.deepEqual(
    [...heldBack([added(".cargo", "link"), added("sub/.Config", "link")], at).keys()],
    [".cargo", "sub/.Config"],
  );
  const daily = ["package.json", "Makefile", ".github/workflows/ci.yml", "AGENTS.md"];
  assert.equal(
    heldBack(
      daily.map((path) => added(path, "file")),
      at,
    ).size,
    0,
  );
});

describe("files named by git's settings are held back", () => {
  let root: string;
  let top: string;
  const git = (...words: readonly string[]): string =>
    execFileSync("git", ["-C", top, ...who, ...words], { env, encoding: "utf8" });
  const write = (folder: string, name: string): void => {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), "#!/bin/sh\n", { mode: 0o755 });
  };
  beforeEach(() => {
    root = realpathSync(mkdtempSync(join(tmpdir(), "lathe-held-")));
    top = join(root, "repository");
    mkdirSync(top);
    git("init", "-q");
    for (const name of ["süb/f.sh", "süb/a.txt", "süb/myhooks/pre-commit", "süb/deep/b.txt"])
      write(top, name);
    git("add", ".");
    git("commit", "-qm", "first");
    git("config", "core.hooksPath", "süb/myhooks");
    git("config", "filter.z.clean", "./süb/f.sh --all");
  });
  afterEach(() => rmSync(root, { recursive: true }));

  /** The held-back files among the changed ones; names as bytes. */
  const held = (base: string, names: readonly string[]): readonly string[] => {
    const upper = join(root, "upper");
    const side = { kind: "file", mode: 0o755, size: 1 } as const;
    const differences = names.map((name): CopyDifference => {
      write(upper, name);
      const path = Buffer.from(name).toString("latin1");
      return { path, what: "modified", base: side, fork: side } as unknown as CopyDifference;
    });
    const found = [...heldBack(differences, { base, upper }).keys()];
    return found.map((path) => Buffer.from(path, "latin1").toString());
  };
  const inTop = ["süb/f.sh", "süb/a.txt", "süb/myhooks/pre-commit", "süb/myhooks/new", "f.sh"];
  const inPart = ["f.sh", "a.txt", "myhooks/pre-commit", "myhooks/new", "deep/b.txt"];
  const topHeld = ["süb/f.sh", "süb/myhooks/pre-commit", "süb/myhooks/new"];
  const partHeld = ["f.sh", "myhooks/pre-commit", "myhooks/new"];

  it("in a whole repository, and in a part of it", () => {
    assert.deepEqual(held(top, inTop), topHeld);
    assert.deepEqual(held(join(top, "süb"), inPart), partHeld);
    assert.deepEqual(held(join(top, "süb/deep"), ["f.sh", "myhooks/x", "b.txt"]), []);
  });

  it("in a linked working tree, in a part of one, and by only that tree's settings", () => {
    const linked = join(root, "linked");
    git("worktree", "add", "-q", linked);
    assert.deepEqual(held(linked, inTop), topHeld);
    assert.deepEqual(held(join(linked, "süb"), inPart), partHeld);
    git("config", "extensions.worktreeConfig", "true");
    git("-C", linked, "config", "--worktree", "core.fsmonitor", "süb/a.txt");
    assert.deepEqual(held(join(linked, "süb"), inPart), [
      "f.sh",
      "a.txt",
      "myhooks/pre-commit",
      "myhooks/new",
    ]);
  });

  it("if the folder itself is the hooks folder: files that git would run", () => {
    const names = ["pre-commit", "post-checkout", "lib.sh", "deep/pre-commit"];
    assert.deepEqual(held(join(top, "süb/myhooks"), names), ["pre-commit", "post-checkout"]);
    git("config", "core.hooksPath", ".");
    assert.deepEqual(held(top, names), ["pre-commit", "post-checkout"]);
  });
});
