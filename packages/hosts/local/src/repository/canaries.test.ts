/** Programs that a repository names never run for working trees, attempts or histories. */

import assert from "node:assert/strict";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { makePlaces } from "@lathe/attempts";
import { openHistory } from "@lathe/evals";
import { followHistory } from "@lathe/keep-rate";
import { isFailure } from "@lathe/protocol";
import { runGitIn } from "@lathe/testkit";
import { localPlaces } from "../attempts/local-attempts.ts";
import { createLazySearch } from "../search/lazy-search.ts";
import { localTrees } from "../worktrees/local-trees.ts";
import { createBoxedGit } from "./boxed-git.ts";

const hooks = [
  "post-checkout",
  "post-index-change",
  "reference-transaction",
  "pre-commit",
  "fsmonitor-watchman",
];

describe("a repository that names programs everywhere", () => {
  let root = "";
  let top = "";
  let ran = "";
  let env: NodeJS.ProcessEnv = {};

  beforeEach(() => {
    root = realpathSync(mkdtempSync(join(tmpdir(), "lathe-canaries-")));
    top = join(root, "repo");
    ran = join(root, "ran");
    mkdirSync(join(top, "bin"), { recursive: true });
    const program = join(top, "bin/git");
    writeFileSync(join(top, "a.txt"), "boil the water\n");
    writeFileSync(join(top, "b.bin"), "pointer\n");
    writeFileSync(join(top, ".gitattributes"), "*.txt filter=e diff=e merge=e\n*.bin filter=lfs\n");
    writeFileSync(program, `#!/bin/sh\necho "$0 $*" >> '${ran}'\ncat\n`, { mode: 0o755 });
    runGitIn(top, "init", "-q", "-b", "main");
    runGitIn(top, "add", ".");
    runGitIn(top, "commit", "-qm", "boils");
    writeFileSync(join(top, "a.txt"), "boil the kettle\n");
    runGitIn(top, "commit", "-qam", "boils more");
    for (const hook of hooks) {
      mkdirSync(join(top, ".git/hooks"), { recursive: true });
      writeFileSync(join(top, ".git/hooks", hook), `#!/bin/sh\nexec '${program}'\n`, { mode: 0o755 });
    }
    writeFileSync(join(root, "included"), `[core]\n\tfsmonitor = ${program}\n[pager]\n\tlog = ${program}\n`);
    const settings = [
      `[core]\n\tfsmonitor = ${program}\n\tsshCommand = ${program}\n\tpager = ${program}\n\thooksPath = .git/hooks\n`,
      `\talternateRefsCommand = ${program}\n\tgitProxy = ${program}\n\tworktree = ${root}\n`,
      ...["e", "lfs"].map(
        (name) =>
          `[filter "${name}"]\n\tclean = ${program}\n\tsmudge = ${program}\n\tprocess = ${program}\n\trequired\n`,
      ),
      `[diff]\n\texternal = ${program}\n[diff "e"]\n\ttextconv = ${program}\n\tcommand = ${program}\n`,
      `[merge "e"]\n\tdriver = ${program}\n[alias]\n\tlog = !${program}\n\tdiff = !${program}\n`,
      `[gpg]\n\tprogram = ${program}\n[log]\n\tshowSignature = true\n[credential]\n\thelper = !${program}\n`,
      `[extensions]\n\tpartialClone = origin\n[remote "origin"]\n\turl = ext::${program}\n\tpromisor = true\n`,
      `[protocol "ext"]\n\tallow = always\n[submodule "s"]\n\turl = ext::${program}\n\tupdate = !${program}\n`,
      `[include]\n\tpath = ${join(root, "included")}\n[includeIf "gitdir:**"]\n\tpath = ${join(root, "included")}\n`,
    ];
    appendFileSync(join(top, ".git/config"), settings.join(""));
    utimesSync(join(top, "a.txt"), new Date(), new Date());
    const named = {
      GIT_EXTERNAL_DIFF: program,
      GIT_SSH_COMMAND: program,
      GIT_PAGER: program,
      GIT_ASKPASS: program,
      GIT_CONFIG_COUNT: "1",
      GIT_CONFIG_KEY_0: "core.fsmonitor",
      GIT_CONFIG_VALUE_0: program,
      GIT_DIR: join(root, "nowhere"),
      GIT_EXEC_PATH: join(top, "bin"),
    };
    const folders = {
      HOME: join(root, "home"),
      XDG_STATE_HOME: join(root, "state"),
      XDG_CACHE_HOME: process.env.LATHE_TEST_CACHE ?? join(root, "cache"),
    };
    env = { ...folders, ...named, PATH: `bin:./bin:${join(top, "bin")}:${process.env.PATH}` };
  });
  afterEach(() => {
    assert.equal(existsSync(ran) ? readFileSync(ran, "utf8") : "", "");
    rmSync(root, { recursive: true, force: true });
  });

  it("runs none for a working tree, and reports the files whose filters it skipped", async () => {
    writeFileSync(join(top, "a.txt"), "boil the teapot\n");
    const opened = await localTrees(env).open({ cwd: top, name: "one" });
    assert.ok(!isFailure(opened), isFailure(opened) ? opened.text : "");
    assert.deepEqual(opened.carried, ["a.txt"]);
    assert.deepEqual(
      opened.unfiltered.toSorted((one, other) => (one.filter < other.filter ? -1 : 1)),
      [
        { filter: "e", files: 1 },
        { filter: "lfs", files: 1 },
      ],
    );
    assert.equal(readFileSync(join(opened.path, "b.bin"), "utf8"), "pointer\n");
    assert.equal(await opened.settle(), false);
    assert.equal(existsSync(opened.path), false);
  });

  it("runs none for the working trees of attempts, or when these are applied or discarded", async () => {
    const wish = { count: 2, worktrees: true, cwd: top, about: "a test", session: "s-1" };
    const found = await makePlaces(localPlaces(env, ["/bin/true"]), wish);
    assert.ok(!isFailure(found), isFailure(found) ? found.text : "");
    for (const { open } of found.made) {
      const entrance = await open.enter(["/bin/true"]);
      assert.ok(!isFailure(entrance));
      writeFileSync(join(entrance.cwd, "a.txt"), "boil it all\n");
      const copied = await open.enterCopy(["/bin/true"]);
      assert.ok(!isFailure(copied), isFailure(copied) ? copied.text : "");
      await copied.leave();
      const changes = await open.compare();
      assert.equal(!isFailure(changes) && changes.differences.length, 1);
      assert.equal(await open.drop(), undefined);
    }
    assert.equal(existsSync(`${top}.worktrees`), false);
  });

  it("runs none for a ranked search, for line histories, and for mining", async () => {
    const search = createLazySearch(top, env);
    const answer = await search.rank({ query: "boil kettle", k: 3 }, new AbortController().signal);
    assert.ok(!isFailure(answer), isFailure(answer) ? answer.text : "");
    const git = await createBoxedGit(env).open(top);
    assert.ok(!isFailure(git), isFailure(git) ? git.text : "");
    const at = Date.now();
    const edit = { at: 1, path: "a.txt", from: null, before: null, after: "boil the kettle\n" };
    const [lines = []] = await followHistory({
      repository: { root: git.top, git },
      sessions: [{ endedAt: 1, edits: [edit] }],
      now: at,
      tip: git.tip("HEAD"),
      withFiles: true,
    });
    assert.equal(lines.flat().length, 1);
    await git.close();
    const writes = join(root, "work");
    mkdirSync(join(writes, "app"), { recursive: true });
    const history = await openHistory(top, { git: createBoxedGit(env), writes });
    assert.ok(!isFailure(history), isFailure(history) ? history.text : "");
    const commits = await history.commits(10);
    assert.equal(!isFailure(commits) && commits.length, 1);
    const [commit] = isFailure(commits) ? [] : commits;
    assert.equal(await history.checkOut(commit?.parent ?? "", join(writes, "app")), undefined);
    assert.equal(readFileSync(join(writes, "app/a.txt"), "utf8"), "boil the water\n");
    const elsewhere = join(root, "elsewhere");
    mkdirSync(elsewhere);
    assert.equal(await history.checkOut(commit?.id ?? "", elsewhere), undefined);
    assert.equal(readFileSync(join(elsewhere, "a.txt"), "utf8"), "boil the kettle\n");
    assert.match(
      String(await history.patch(commit?.parent ?? "", commit?.id ?? "", ["a.txt"])),
      /^\+boil the kettle$/m,
    );
    await history.close();
  });
});
