/** Hostile repository files: reading them runs nothing, waits for nothing, and ends. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { readAliases } from "./git-aliases.ts";
import { findRepository } from "./open-repository.ts";
import { repositoryStatus } from "./repository-status.ts";
import { WalkBudget } from "./walk-budget.ts";

const temporary = realpathSync(mkdtempSync(join(tmpdir(), "lathe-hostile-")));
after(() => rmSync(temporary, { recursive: true, force: true }));

const env = { PATH: process.env.PATH, HOME: temporary, GIT_CONFIG_NOSYSTEM: "1" };
const mark = join(temporary, "ran");
const canary = join(temporary, "canary");
writeFileSync(canary, `#!/bin/sh\necho ran >> ${mark}\n`, { mode: 0o755 });

/** A repository with one commit, and a file whose state only its bytes reveal. */
function make(): string {
  const root = mkdtempSync(join(temporary, "r-"));
  const git = (...args: readonly string[]): unknown => execFileSync("git", args, { cwd: root, env });
  git("init", "-q");
  mkdirSync(join(root, "src"));
  for (const path of ["a.txt", "src/b.txt"]) writeFileSync(join(root, path), `${path}\n`);
  writeFileSync(join(root, ".gitattributes"), "* filter=e diff=e\n");
  git("add", "-A");
  git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x");
  utimesSync(join(root, "a.txt"), 1, 1);
  return root;
}

type Answer =
  | { readonly changed: readonly string[]; readonly untracked: readonly string[] }
  | "none"
  | "unknown";

/** The answer that the port gives. */
async function statusOf(root: string): Promise<Answer> {
  try {
    const place = findRepository(root);
    if (!place) return "none";
    readAliases(place, env);
    return await repositoryStatus(place, { env, budget: new WalkBudget({ ms: 5_000, entries: 10_000 }) });
  } catch {
    return "unknown";
  }
}

const clean: Answer = { changed: [], untracked: [] };

it("runs no program that settings name", async () => {
  const root = make();
  const names = ["core.fsmonitor", "core.pager", "core.sshCommand", "core.askPass", "credential.helper"];
  for (const name of [...names, "filter.e.clean", "filter.e.process", "diff.e.textconv", "diff.external"])
    execFileSync("git", ["config", name, canary], { cwd: root, env });
  assert.deepEqual(await statusOf(root), clean);
  assert.equal(existsSync(mark), false);
});

describe("a repository in odd files", () => {
  it("is not accepted if a folder has the parts of a bare one", async () => {
    const root = make();
    cpSync(join(root, ".git"), join(root, "src"), { recursive: true });
    assert.equal(await statusOf(join(root, "src")), "unknown");
    const alone = mkdtempSync(join(temporary, "bare-"));
    cpSync(join(root, ".git"), alone, { recursive: true });
    assert.equal(await statusOf(alone), "unknown");
  });

  it("is not accepted if the other place does not know it, or through a link", async () => {
    const [root, other] = [make(), make()];
    rmSync(join(other, ".git"), { recursive: true });
    writeFileSync(join(other, ".git"), `gitdir: ${join(root, ".git")}\n`);
    assert.equal(await statusOf(other), "unknown");
    rmSync(join(other, ".git"));
    symlinkSync(join(root, ".git"), join(other, ".git"));
    assert.equal(await statusOf(other), "unknown");
  });

  it("cannot present another repository as its own by a commondir file", async () => {
    const [root, other] = [make(), make()];
    writeFileSync(join(root, ".git/commondir"), `${join(other, ".git")}\n`);
    assert.equal(await statusOf(root), "unknown");
    const own = join(root, "own");
    mkdirSync(own);
    renameSync(join(root, ".git"), join(root, "parts"));
    writeFileSync(join(own, ".git"), "gitdir: ../parts\n");
    writeFileSync(join(root, "parts/gitdir"), `${join(own, ".git")}\n`);
    assert.equal(await statusOf(own), "unknown");
  });

  for (const path of ["index", "HEAD", "config", "info/exclude", "packed-refs"]) {
    it(`is not waited for, with a pipe, a device or a link as ${path}`, async () => {
      for (const put of [
        (at: string): unknown => execFileSync("mkfifo", [at]),
        (at: string): void => symlinkSync("/dev/zero", at),
        (at: string): void => symlinkSync(at, at),
      ]) {
        const root = make();
        rmSync(join(root, ".git", path), { force: true });
        put(join(root, ".git", path));
        assert.deepEqual(await statusOf(root), path === "packed-refs" ? clean : "unknown");
      }
    });
  }

  it("is not waited for, with a pipe in place of files and rules", async () => {
    const root = make();
    for (const path of ["a.txt", "src/.gitignore"]) {
      rmSync(join(root, path), { force: true });
      execFileSync("mkfifo", [join(root, path)]);
    }
    writeFileSync(join(root, "src/new"), "");
    assert.equal(await statusOf(root), "unknown");
    rmSync(join(root, "src/.gitignore"));
    assert.deepEqual(await statusOf(root), { changed: ["a.txt"], untracked: ["src/new"] });
  });

  it("does not lead out through a folder that became a link", async () => {
    const root = make();
    renameSync(join(root, "src"), join(temporary, "moved"));
    symlinkSync(join(temporary, "moved"), join(root, "src"));
    assert.deepEqual(await statusOf(root), { changed: ["src/b.txt"], untracked: ["src"] });
  });

  it("has settings that include themselves, another working tree, or unknown extensions", async () => {
    const texts = [
      "[include]\n\tpath = config\n",
      `[core]\n\tworktree = ${temporary}\n`,
      "[core]\n\tbare = true\n",
      "[core]\n\trepositoryformatversion = 1\n[extensions]\n\trefStorage = reftable\n",
      "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tother = 1\n",
      "[core\n",
      `[include]\n\tpath = ${"x".repeat(100)}\n`.repeat(50),
    ];
    for (const text of texts) {
      const root = make();
      appendFileSync(join(root, ".git/config"), text);
      assert.equal(await statusOf(root), "unknown", text);
    }
  });

  it("has missing or damaged objects", async () => {
    const root = make();
    const head = execFileSync("git", ["rev-parse", "HEAD"], { cwd: root, env, encoding: "utf8" }).trim();
    const object = join(root, ".git/objects", head.slice(0, 2), head.slice(2));
    rmSync(object);
    assert.equal(await statusOf(root), "unknown");
    writeFileSync(object, "no zlib");
    assert.equal(await statusOf(root), "unknown");
  });

  it("has an index with any byte changed, or truncated: an answer or none, at once", async () => {
    const root = make();
    const index = join(root, ".git/index");
    const bytes = readFileSync(index);
    for (let at = 0; at < bytes.length; at++) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ (1 << (at % 8));
      writeFileSync(index, at % 5 === 0 ? bytes.subarray(0, at) : changed);
      const answer = await statusOf(root);
      assert.ok(answer === "unknown" || typeof answer === "object", String(at));
    }
  });

  it("has an entry whose path leads out", async () => {
    const root = make();
    const index = join(root, ".git/index");
    const text = readFileSync(index).toString("latin1");
    for (const path of ["../.x.txt", "//./b.txt", ".git/HEAD"]) {
      writeFileSync(index, Buffer.from(text.replace("src/b.txt", path), "latin1"));
      const answer = await statusOf(root);
      assert.ok(answer === "unknown" || (typeof answer === "object" && answer.changed.length > 0), path);
    }
  });
});
