/** The status must equal git's own, in ordinary and in odd repositories. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, describe, it } from "node:test";
import { findRepository } from "./open-repository.ts";
import { ignoredFolders, knownFiles, trackedFiles } from "./repository-files.ts";
import { repositoryStatus } from "./repository-status.ts";
import { WalkBudget } from "./walk-budget.ts";

const temporary = realpathSync(mkdtempSync(join(tmpdir(), "lathe-status-")));
after(() => rmSync(temporary, { recursive: true, force: true }));

const home = join(temporary, "home");
mkdirSync(home);
writeFileSync(
  join(home, ".gitconfig"),
  '[user]\n\tname = a\n\temail = a@example.com\n[init]\n\tdefaultBranch = main\n[protocol "file"]\n\tallow = always\n',
);
const env = { PATH: process.env.PATH, HOME: home, GIT_CONFIG_NOSYSTEM: "1", LC_ALL: "C" };

class Ground {
  readonly root: string;

  constructor(root: string = mkdtempSync(join(temporary, "r-"))) {
    this.root = root;
  }

  git(...args: readonly string[]): string {
    return execFileSync("git", args, { cwd: this.root, env, encoding: "latin1", stdio: "pipe" });
  }

  write(path: string, text: string | Buffer = `${path}\n`): void {
    mkdirSync(dirname(join(this.root, path)), { recursive: true });
    writeFileSync(join(this.root, path), text);
  }

  commit(): void {
    this.git("add", "-A");
    this.git("commit", "-qm", "x", "--allow-empty");
  }
}

function start(...options: readonly string[]): Ground {
  const ground = new Ground();
  ground.git("init", "-q", ...options);
  for (const path of ["a.txt", "b.txt", "src/c.txt", "src/deep/d.txt", "ä/e.txt"]) ground.write(path);
  ground.commit();
  return ground;
}

const lines = (text: string): readonly string[] =>
  text
    .split("\0")
    .filter(Boolean)
    .map((path) => Buffer.from(path, "latin1").toString())
    .sort();

/** Git's status, without the old names of renamed files. */
function gitStatus(ground: Ground): { changed: readonly string[]; untracked: readonly string[] } {
  const out = ground.git("status", "--porcelain", "-z", "--untracked-files=normal").split("\0");
  const changed: string[] = [];
  const untracked: string[] = [];
  for (let at = 0; at < out.length; at++) {
    const [mark, path] = [(out[at] ?? "").slice(0, 2), (out[at] ?? "").slice(3)];
    if (path === "") continue;
    if (mark === "??") untracked.push(path);
    else changed.push(path);
    if (mark.includes("R")) at++;
  }
  return { changed: lines(changed.join("\0")), untracked: lines(untracked.join("\0")) };
}

const budget = (): WalkBudget => new WalkBudget({ ms: 20_000, entries: 1_000_000 });

async function ourStatus(root: string): Promise<ReturnType<typeof gitStatus>> {
  const place = findRepository(root);
  assert.ok(place);
  const { changed, untracked } = await repositoryStatus(place, { env, budget: budget() });
  return { changed: [...changed].sort(), untracked: [...untracked].sort() };
}

/** Each with the changes after a first commit. */
const states: Readonly<Record<string, (ground: Ground) => void>> = {
  "nothing changed": () => undefined,
  "a changed file": (g) => g.write("a.txt", "other\n"),
  "a changed file of the same size": (g) => g.write("a.txt", "A.txt\n"),
  "a touched file": (g) => utimesSync(join(g.root, "a.txt"), 1, 1),
  "a staged file": (g) => {
    g.write("a.txt", "other\n");
    g.git("add", "a.txt");
  },
  "a staged file that is as before": (g) => {
    g.write("src/deep/d.txt", "other\n");
    g.git("add", "-A");
    g.write("src/deep/d.txt");
    g.git("add", "-A");
  },
  "a staged file changed back": (g) => {
    g.write("a.txt", "other\n");
    g.git("add", "a.txt");
    g.write("a.txt", "a.txt\n");
  },
  "a new staged file": (g) => {
    g.write("src/new/n.txt");
    g.git("add", "-A");
  },
  "a file to be added": (g) => {
    g.write("n.txt");
    g.git("add", "-N", "n.txt");
  },
  "a removed file": (g) => rmSync(join(g.root, "a.txt")),
  "a removed folder": (g) => rmSync(join(g.root, "src"), { recursive: true }),
  "a file removed from the index": (g) => void g.git("rm", "-q", "--cached", "a.txt"),
  "a folder removed and staged": (g) => void g.git("rm", "-rq", "src"),
  "a renamed file": (g) => {
    renameSync(join(g.root, "a.txt"), join(g.root, "z.txt"));
    g.git("add", "-A");
  },
  "a file in the place of a folder": (g) => {
    rmSync(join(g.root, "src"), { recursive: true });
    g.write("src", "file\n");
  },
  "a folder in the place of a file": (g) => {
    rmSync(join(g.root, "a.txt"));
    g.write("a.txt/inner");
  },
  "a link in the place of a file": (g) => {
    rmSync(join(g.root, "a.txt"));
    symlinkSync("b.txt", join(g.root, "a.txt"));
  },
  "a link in the place of a folder": (g) => {
    renameSync(join(g.root, "src"), join(temporary, `moved-${g.root.slice(-6)}`));
    symlinkSync(join(temporary, `moved-${g.root.slice(-6)}`), join(g.root, "src"));
  },
  "a pipe in the place of a file": (g) => {
    rmSync(join(g.root, "a.txt"));
    execFileSync("mkfifo", [join(g.root, "a.txt")]);
  },
  "links that are tracked": (g) => {
    symlinkSync("a.txt", join(g.root, "l"));
    symlinkSync("gone", join(g.root, "m"));
    g.commit();
    rmSync(join(g.root, "m"));
    symlinkSync("none", join(g.root, "m"));
  },
  "an executable file": (g) => chmodSync(join(g.root, "a.txt"), 0o755),
  "an executable file that does not count": (g) => {
    g.git("config", "core.fileMode", "false");
    chmodSync(join(g.root, "a.txt"), 0o755);
  },
  "untracked files and folders": (g) => {
    g.write("new.txt");
    g.write("more/deep/n.txt");
    g.write("src/deep/n.txt");
    mkdirSync(join(g.root, "empty/inner"), { recursive: true });
  },
  "ignored files": (g) => {
    g.write(".gitignore", "*.log\ndata/\n/build\n!keep.log\n");
    g.write("src/.gitignore", "*.tmp\n!x.log\n");
    g.commit();
    for (const path of ["y.log", "data/d", "build/b", "src/build/b", "keep.log", "src/x.log", "src/t.tmp"])
      g.write(path);
    for (const path of ["logs/a.log", "logs/deep/b.log", "mixed/a.log", "mixed/b.txt", "new/data/x", "new/y"])
      g.write(path);
  },
  "tracked files in an ignored folder": (g) => {
    g.write("data/kept.txt");
    g.write("data/deep/kept.txt");
    g.commit();
    g.write(".gitignore", "data/\n");
    g.commit();
    g.write("data/other.txt");
    g.write("data/deep/other.txt");
    g.write("data/rest/other.txt");
    g.write("data/kept.txt", "changed\n");
  },
  "rules of the repository and of the user": (g) => {
    g.write("excludes", "*.mine\n");
    g.git("config", "core.excludesFile", join(g.root, "excludes"));
    appendFileSync(join(g.root, ".git/info/exclude"), "*.theirs\n");
    g.write("x.mine");
    g.write("y.theirs");
    g.write("z.nobody");
  },
  "a repository within": (g) => {
    mkdirSync(join(g.root, "inner"));
    new Ground(join(g.root, "inner")).git("init", "-q");
  },
  "a bare repository within": (g) => {
    mkdirSync(join(g.root, "inner"));
    new Ground(join(g.root, "inner")).git("init", "-q", "--bare");
  },
  "a conflict": (g) => {
    g.git("checkout", "-qb", "other");
    g.write("a.txt", "one\n");
    g.commit();
    g.git("checkout", "-q", "main");
    g.write("a.txt", "two\n");
    g.commit();
    assert.throws(() => g.git("merge", "other"));
  },
  "packed objects and refs": (g) => {
    for (let i = 0; i < 20; i++) {
      g.write("src/c.txt", `${"line\n".repeat(200)}${i}\n`);
      g.write(`src/many/${i}.txt`);
      g.commit();
    }
    g.git("gc", "-q");
    g.write("src/many/3.txt", "staged\n");
    g.git("add", "-A");
  },
  "a detached head": (g) => {
    g.write("a.txt", "2\n");
    g.commit();
    g.git("checkout", "-q", "HEAD~1");
  },
  "a soft reset": (g) => {
    g.write("src/deep/new.txt");
    g.commit();
    g.git("reset", "-q", "--soft", "HEAD~1");
  },
  "an index of version 4": (g) => {
    g.git("update-index", "--index-version", "4");
    g.write("src/c.txt", "2\n");
  },
  "a split index": (g) => {
    g.git("update-index", "--split-index");
    g.write("src/c.txt", "2\n");
    g.write("src/new.txt");
    g.git("rm", "-q", "--cached", "b.txt");
    g.git("add", "src");
    g.write("a.txt", "3\n");
  },
  "a file that is assumed to be as it was": (g) => {
    g.git("update-index", "--assume-unchanged", "a.txt");
    g.write("a.txt", "3\n");
  },
  "a sparse checkout": (g) => {
    g.git("sparse-checkout", "set", "src/deep");
    g.write("src/deep/d.txt", "2\n");
  },
  "a sparse index": (g) => {
    g.git("sparse-checkout", "set", "--sparse-index", "ä");
    g.write("a.txt", "2\n");
  },
  "no index": (g) => rmSync(join(g.root, ".git/index")),
  "a submodule": (g) => {
    g.git("submodule", "--quiet", "add", start().root, "sub");
    g.commit();
  },
  "a submodule with changes": (g) => {
    g.git("submodule", "--quiet", "add", start().root, "sub");
    g.commit();
    g.write("sub/a.txt", "2\n");
  },
  "a submodule at another commit": (g) => {
    g.git("submodule", "--quiet", "add", start().root, "sub");
    g.commit();
    new Ground(join(g.root, "sub")).commit();
  },
  "a submodule that is not checked out": (g) => {
    g.git("submodule", "--quiet", "add", start().root, "sub");
    g.commit();
    g.git("submodule", "--quiet", "deinit", "-f", "sub");
  },
  "files of the moment of the index": (g) => {
    for (let i = 0; i < 20; i++) {
      g.write("a.txt", `${i}\n`);
      g.git("add", "-A");
      g.write("a.txt", `${i % 10}\n`);
    }
  },
};

/** States for which git lists missing files, or uses its own wording. */
const unlisted = new Set([
  "a file in the place of a folder",
  "a folder in the place of a file",
  "a sparse index",
]);

describe("status and files are what git says of", () => {
  for (const [name, make] of Object.entries(states)) {
    it(name, async () => {
      const ground = start();
      make(ground);
      const { changed, untracked } = await ourStatus(ground.root);
      const expected = gitStatus(ground);
      assert.deepEqual(changed, expected.changed);
      // Git does not name a folder that replaced a file.
      assert.deepEqual(
        untracked.filter((path) => !path.endsWith("/") || !changed.includes(path.slice(0, -1))),
        expected.untracked,
      );
      if (!unlisted.has(name)) await compareFiles(ground);
    });
  }

  it("a repository without a commit", async () => {
    const ground = new Ground();
    ground.git("init", "-q");
    assert.deepEqual(await ourStatus(ground.root), { changed: [], untracked: [] });
    ground.write("a");
    ground.write("b");
    ground.git("add", "a");
    assert.deepEqual(await ourStatus(ground.root), gitStatus(ground));
  });

  it("a repository with SHA-256", async () => {
    const ground = start("--object-format=sha256");
    ground.write("a.txt", "2\n");
    ground.write("src/deep/d.txt", "2\n");
    ground.git("add", "src");
    assert.deepEqual(await ourStatus(ground.root), gitStatus(ground));
  });

  it("a linked working tree", async () => {
    const ground = start();
    const tree = new Ground(join(temporary, `tree-${ground.root.slice(-6)}`));
    ground.git("worktree", "add", "-q", tree.root, "-b", "side");
    tree.write("a.txt", "2\n");
    tree.write("n.txt");
    assert.deepEqual(await ourStatus(tree.root), gitStatus(tree));
    assert.deepEqual(await ourStatus(ground.root), gitStatus(ground));
  });

  it("a clone that borrows objects", async () => {
    const ground = start();
    ground.git("gc", "-q");
    const clone = new Ground(join(temporary, `clone-${ground.root.slice(-6)}`));
    ground.git("clone", "-q", "--shared", ground.root, clone.root);
    clone.write("src/c.txt", "2\n");
    clone.git("add", "-A");
    assert.deepEqual(await ourStatus(clone.root), gitStatus(clone));
  });
});

/** Compares with `git ls-files`, from the top and from folders below. */
async function compareFiles(ground: Ground): Promise<void> {
  for (const folder of ["", "src", "data"].map((path) => join(ground.root, path))) {
    const place = findRepository(ground.root);
    assert.ok(place);
    if (!isFolder(folder)) continue;
    const inside = new Ground(folder);
    const options = { env, budget: budget(), folder };
    const sorted = (paths: readonly string[]): readonly string[] => [...paths].sort();
    const listed = (...args: readonly string[]): readonly string[] =>
      [...new Set(lines(inside.git("ls-files", "-z", ...args)))].filter(
        (path) => !isFolder(join(folder, path)),
      );
    assert.deepEqual(sorted(await trackedFiles(place, options)), listed("--cached"));
    assert.deepEqual(sorted(await knownFiles(place, options)), listed("-co", "--exclude-standard"));
    const folders = lines(inside.git("ls-files", "-z", "-oi", "--exclude-standard", "--directory"));
    assert.deepEqual(
      sorted(await ignoredFolders(place, options)),
      folders.filter((path) => path.endsWith("/")),
    );
  }
}

function isFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
