/** Git in the box answers like git, and runs nothing that a repository names. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { isFailure } from "@lathe/protocol";
import { createNoneDriver } from "@lathe/sandbox";
import { repositoryPlace } from "@lathe/system/git";
import { runGitIn } from "@lathe/testkit";
import type { GitBox, GitBoxWish } from "@lathe/worktrees/git";
import { openGitBox } from "./git-box.ts";

describe("openGitBox", () => {
  let root = "";
  let top = "";
  const boxes: GitBox[] = [];

  beforeEach(() => {
    root = realpathSync(mkdtempSync(join(tmpdir(), "lathe-git-box-")));
    top = join(root, "repo");
    mkdirSync(top);
    git("init", "-q", "-b", "main");
    writeFileSync(join(top, "a.txt"), "one\n");
    git("add", ".");
    git("commit", "-qm", "first");
  });
  afterEach(async () => {
    for (const box of boxes.splice(0)) await box.close();
    rmSync(root, { recursive: true, force: true });
  });

  function git(...args: readonly string[]): string {
    return runGitIn(top, ...args);
  }
  async function open(wish: Partial<GitBoxWish> = {}): Promise<GitBox> {
    const place = repositoryPlace(top);
    assert.ok(place);
    const box = await openGitBox(process.env, { place, ...wish });
    assert.ok(!isFailure(box), isFailure(box) ? `${box.text} ${box.cause}` : "");
    boxes.push(box);
    return box;
  }
  async function ask(box: GitBox, ...args: readonly string[]): Promise<string> {
    const said = await box.git(args);
    assert.ok(!isFailure(said), isFailure(said) ? said.text : "");
    return said;
  }

  it("answers like git, in bytes, from the folders it may read", async () => {
    const box = await open({ withRefs: true });
    assert.equal(await ask(box, "rev-parse", "HEAD"), git("rev-parse", "HEAD"));
    assert.equal(await ask(box, "rev-parse", "main^{tree}"), git("rev-parse", "main^{tree}"));
    const input = "caf\u00e9";
    const blob = Buffer.concat([Buffer.from(`blob ${input.length}\0`), Buffer.from(input, "latin1")]);
    const id = createHash("sha1").update(blob).digest("hex");
    assert.equal(await box.git(["hash-object", "--stdin"], { input }), `${id}\n`);
    const missing = await box.git(["cat-file", "-e", "HEAD:none"]);
    assert.ok(isFailure(missing) && missing.code === "no-access");
  });

  it("writes nothing in the repository, only in the folder it was given", async () => {
    const made = join(root, "made");
    mkdirSync(made);
    const box = await open({ made });
    const wrong = await box.git(["--git-dir", join(top, ".git"), "update-ref", "refs/heads/new", "HEAD"]);
    assert.ok(isFailure(wrong));
    const index = box.newIndex();
    const put = await box.git(["read-tree", "-m", "-u", "HEAD"], { workTree: made, index });
    assert.ok(!isFailure(put), isFailure(put) ? put.text : "");
    assert.equal(readFileSync(join(made, "a.txt"), "utf8"), "one\n");
    assert.equal(git("for-each-ref", "--format=%(refname)"), "refs/heads/main\n");
  });

  it("runs no program that the repository's settings, attributes or hooks name", async () => {
    const marker = join(root, "ran");
    const program = join(top, "evil.sh");
    writeFileSync(
      program,
      `#!/bin/sh\necho "$0 $*" >> '${join(root, "made/ran")}'\necho ran >> ${marker}\ncat\n`,
    );
    chmodSync(program, 0o755);
    writeFileSync(join(top, ".gitattributes"), "* filter=evil diff=evil merge=evil\n");
    git("add", "-A");
    git("commit", "-qm", "second");
    for (const hook of ["post-checkout", "post-index-change", "reference-transaction"]) {
      mkdirSync(join(top, ".git/hooks"), { recursive: true });
      writeFileSync(join(top, ".git/hooks", hook), `#!/bin/sh\nexec ${program}\n`, { mode: 0o755 });
    }
    writeFileSync(join(root, "included"), `[core]\n\tfsmonitor = ${program}\n`);
    appendFileSync(join(top, ".git/config"), evilSettings(program, join(root, "included")));
    const made = join(root, "made");
    mkdirSync(made);
    const box = await open({ made });
    const index = box.takeIndex(join(top, ".git/index"));
    writeFileSync(join(top, "a.txt"), "two\n");
    const commit = git("rev-parse", "HEAD").trim();
    const fresh = box.newIndex();
    for (const [args, run] of [
      [["diff", "--stat", commit], { index }],
      [["diff", commit], { index }],
      [["status", "--porcelain"], { index }],
      [["log", "-p", "--format=%B", commit], {}],
      [["ls-files", "-o", "--exclude-standard"], { index }],
      [["read-tree", "-m", "-u", commit], { index: fresh, workTree: made }],
      [["cat-file", "--filters", `${commit}:a.txt`], {}],
    ] as const) {
      const said = await box.git(args, run);
      assert.ok(!isFailure(said), isFailure(said) ? said.text : "");
    }
    assert.ok(isFailure(await box.git(["evil"])));
    assert.equal(readFileSync(join(made, "a.txt"), "utf8"), "one\n");
    assert.ok(!existsSync(marker));
    // A program in the box could have written here.
    assert.ok(!existsSync(join(made, "ran")));
  });

  it("refuses repositories it does not read, and accepts no bare repository", async () => {
    appendFileSync(join(top, ".git/config"), "[extensions]\n\trefStorage = reftable\n");
    const place = repositoryPlace(top);
    assert.ok(place);
    const refused = await openGitBox(process.env, { place });
    assert.ok(isFailure(refused) && refused.code === "invalid-arguments");
    const bare = join(root, "bare");
    runGitIn(root, "clone", "-q", "--bare", join(top, ".git"), bare);
    assert.equal(repositoryPlace(bare), undefined);
  });

  it("refuses a repository that borrows objects from one it may not read", async () => {
    const clone = join(root, "clone");
    git("clone", "-q", "--shared", top, clone);
    const place = repositoryPlace(clone);
    assert.ok(place);
    const box = await openGitBox(process.env, { place });
    assert.ok(isFailure(box) && box.code === "invalid-arguments");
    assert.ok(box.text.includes(`${top}/.git/objects`), box.text);
  });

  it("starts git from no folder of the repository, even through a link", async () => {
    const programs = join(top, "programs");
    mkdirSync(programs);
    writeFileSync(join(programs, "git"), "#!/bin/sh\necho wrong\n", { mode: 0o755 });
    symlinkSync(programs, join(root, "link"));
    const place = repositoryPlace(top);
    assert.ok(place);
    for (const path of [programs, join(root, "link"), "programs", ""]) {
      const box = await openGitBox({ ...process.env, PATH: path }, { place, made: top });
      assert.ok(!isFailure(box), isFailure(box) ? box.text : "");
      boxes.push(box);
      assert.equal(await ask(box, "rev-parse", "HEAD"), git("rev-parse", "HEAD"), path);
    }
  });

  it("is not available without a sandbox", async () => {
    const place = repositoryPlace(top);
    assert.ok(place);
    const none = {
      driver: createNoneDriver({ check: async () => undefined, home: top }),
      reasons: ["none here"],
    };
    const refused = await openGitBox(process.env, { place }, Promise.resolve(none));
    assert.ok(isFailure(refused) && refused.code === "sandbox-unavailable");
  });
});

function evilSettings(program: string, included: string): string {
  return [
    `[core]\n\tfsmonitor = ${program}\n\tsshCommand = ${program}\n\tpager = ${program}\n\teditor = ${program}\n`,
    `\talternateRefsCommand = ${program}\n\tgitProxy = ${program}\n\taskPass = ${program}\n`,
    `[filter "evil"]\n\tclean = ${program}\n\tsmudge = ${program}\n\tprocess = ${program}\n\trequired = true\n`,
    `[diff]\n\texternal = ${program}\n[diff "evil"]\n\ttextconv = ${program}\n\tcommand = ${program}\n`,
    `[merge "evil"]\n\tdriver = ${program}\n[alias]\n\tevil = !${program}\n[gpg]\n\tprogram = ${program}\n`,
    `[credential]\n\thelper = ${program}\n[log]\n\tshowSignature = true\n[pager]\n\tlog = ${program}\n`,
    `[include]\n\tpath = ${included}\n[extensions]\n\tpartialClone = origin\n`,
    `[remote "origin"]\n\turl = ssh://x/y\n\tpromisor = true\n\tuploadpack = ${program}\n\tvcs = evil\n`,
  ].join("");
}
