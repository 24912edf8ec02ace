/** Must work: git, as people and agents use it. */
import { mkdirSync, renameSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { hostGit, makeRepository } from "../git-ground.ts";
import { type Ground, write } from "../ground.ts";
import type { WorkProbe } from "../probe.ts";

type GitWork = Pick<WorkProbe, "id" | "what" | "steps"> & Partial<WorkProbe>;

const git = (probe: GitWork): WorkProbe => ({
  group: "git",
  setup: (ground) => makeRepository(ground),
  ...probe,
  id: `work-git-${probe.id}`,
  tools: ["git"],
});

/** Fails at the first line that fails. */
const strict = (script: string): string => `set -e\n${script}`;

function linkedWorktree(ground: Ground): void {
  const main = join(ground.home, "main-repo");
  makeRepository(ground, main);
  hostGit(ground, main, "worktree", "add", "--quiet", "--force", "-b", "task", ground.workspace);
}

const daily = strict(
  "echo new > new.txt; git add new.txt; git commit -qm 'a change'; git switch -qc topic; echo more >> new.txt; git commit -qam more; git stash list; git switch -q -; git log --oneline | head -3; git status --short; git tag v1; git branch -d topic -f -q; echo done",
);

export const gitWork: readonly WorkProbe[] = [
  git({
    id: "commit",
    what: "changes, adds and commits, with the user's own name",
    steps: strict(
      "echo three >> file.txt; git add -A; git commit -qm 'by the agent'; git log -1 --format='%an <%ae> %s'",
    ),
    says: "Ada Probe <ada@example.com> by the agent",
  }),
  git({
    id: "init",
    what: "makes a repository in a folder that was none, and commits",
    setup: ({ workspace }) => write(join(workspace, "a.txt"), "a\n"),
    steps: strict(
      "git init -q; git add .; git commit -qm first; git log --oneline; git status --short; echo clean",
    ),
    says: /first\nclean/,
  }),
  git({
    id: "branches",
    what: "makes, switches and removes branches",
    steps: strict(
      "git switch -c topic; git branch another; git switch main; git branch -D topic; git checkout -q -b x; git checkout -q main; git branch --list",
    ),
    says: "another",
  }),
  git({
    id: "branch-rename",
    what: "renames a branch",
    steps: strict("git branch -m side other; git branch --list"),
    says: "other",
  }),
  git({
    id: "remote",
    what: "adds a remote, pushes to it, follows its branch and sets a name, and finds it all in the next command",
    steps: () => [
      {
        script: strict(
          "git init -q --bare remote.git; git remote add origin ./remote.git; git push -qu origin main; git switch -qc topic --track origin/main; git config user.name Someone; git config color.ui auto",
        ),
      },
      {
        script: strict(
          "git config branch.main.remote; git config branch.topic.merge; git config user.name; git -C remote.git rev-list --count main",
        ),
      },
    ],
    says: "origin\nrefs/heads/main\nSomeone\n2",
  }),
  git({
    id: "nested-repositories",
    what: "clones with a submodule and a bare copy below the workspace, and works in them in the next command",
    steps: () => [
      {
        script: strict(
          "git clone -q . vendor/one; git clone -q --bare . vendor/two.git; git -c protocol.file.allow=always submodule --quiet add ./vendor/two.git lib; git worktree add -q trees/side side",
        ),
      },
      {
        script: strict(
          "for f in vendor/one lib trees/side; do (cd $f; echo x > x; git add x; git commit -qm 'in it'; git log -1 --format=%s; git config --get-regexp '^remote|^branch' | wc -l); done; git submodule status; git -C vendor/two.git log --oneline | wc -l",
        ),
      },
    ],
    says: /(?:in it\n[1-9]\n){2}in it\n[\s\S]* lib[\s\S]*2$/m,
  }),
  git({
    id: "stash",
    what: "puts changes aside and takes them back",
    steps: strict("echo x >> file.txt; echo y > y; git stash -u; test ! -e y; git stash pop; cat y"),
    says: /y$/m,
  }),
  git({
    id: "merge",
    what: "merges a branch",
    steps: strict("git merge --no-edit side; head -1 file.txt; git log --merges --oneline | wc -l"),
    says: /ONE\n1/,
  }),
  git({
    id: "conflict",
    what: "resolves a conflict",
    steps: strict(
      "git switch -qc a; echo a > c; git add c; git commit -qm a; git switch -q main; echo b > c; git add c; git commit -qm b; git merge a || true; echo ab > c; git add c; git commit -qm merged; git status --short; cat c",
    ),
    says: "ab",
  }),
  git({
    id: "rebase",
    what: "rebases a branch, and its commits by a list",
    steps: strict(
      "git switch -q side; git rebase main; GIT_SEQUENCE_EDITOR=true git rebase -i HEAD~1; git log --oneline | wc -l; head -1 file.txt",
    ),
    says: /3\nONE/,
  }),
  git({
    id: "cherry-pick",
    what: "picks and reverts commits",
    steps: strict("git cherry-pick side; git revert --no-edit HEAD; head -1 file.txt"),
    says: /one$/m,
  }),
  git({
    id: "tag",
    what: "tags, lightly and with a message",
    steps: strict("git tag v1; git tag -a v2 -m two; git describe; git tag -d v1"),
    says: "v2",
  }),
  git({
    id: "look",
    what: "looks at history: log, diff, blame, show, grep, reflog",
    steps: strict(
      "git log --stat | cat; git diff HEAD~1; git blame file.txt; git show --stat; git grep SEVEN; git reflog | head -2; git rev-list --count HEAD",
    ),
    says: /SEVEN[\s\S]*2$/m,
  }),
  git({
    id: "gc",
    what: "packs and checks the repository",
    steps: strict("git gc -q; git fsck; git count-objects -v"),
    says: "packs: 1",
  }),
  git({
    id: "reset",
    what: "resets, restores and cleans",
    steps: strict(
      "echo x > file.txt; git restore file.txt; echo x > junk; git clean -fdq; git reset -q --hard HEAD~1; tail -1 file.txt",
    ),
    says: "seven",
  }),
  git({
    id: "bisect",
    what: "searches a commit by halves",
    steps: strict(
      "for i in 1 2 3 4; do echo $i > n; git add n; git commit -qm $i; done; git bisect start HEAD HEAD~4; git bisect run sh -c 'test $(cat n) -lt 3'; git bisect reset; git status --short; echo over",
    ),
    says: "over",
  }),
  git({
    id: "patch",
    what: "writes a change as a patch and applies it",
    steps: strict(
      "git diff HEAD~1 > p; git format-patch -1 -q; git reset -q --hard HEAD~1; git am 0001-*.patch; tail -1 file.txt",
    ),
    says: "SEVEN",
  }),
  git({
    id: "worktree-add",
    what: "adds a working tree inside the workspace, commits there and removes it",
    steps: strict(
      "git worktree add -q -b task trees/task; cd trees/task; echo t > t; git add t; git commit -qm task; cd ../..; git worktree list; git worktree remove trees/task; git merge -q task; cat t",
    ),
    says: /t$/m,
  }),
  git({
    id: "in-linked-worktree",
    what: "works in a linked working tree whose repository lies elsewhere",
    setup: linkedWorktree,
    writable: ({ home }) => [join(home, "main-repo", ".git")],
    steps: daily,
    says: /a change[\s\S]*done/,
  }),
  git({
    id: "in-subfolder",
    what: "works in a workspace that is a subfolder of the repository",
    setup: (ground) => {
      makeRepository(ground, join(ground.home, "work"));
      write(join(ground.workspace, "inner.txt"), "one\n");
      hostGit(ground, ground.workspace, "add", ".");
      hostGit(ground, ground.workspace, "commit", "--quiet", "-m", "inner");
    },
    writable: ({ home }) => [join(home, "work", ".git")],
    steps: strict(
      "echo two >> inner.txt; git status --short inner.txt; git add inner.txt; git commit -qm 'inner change'; git log -1 --format=%s; git diff HEAD~1 --stat -- inner.txt",
    ),
    says: "inner change",
  }),
  git({
    id: "submodule",
    what: "asks for the state of a submodule, and commits in it",
    setup: (ground) => {
      makeRepository(ground, join(ground.outside, "library"));
      makeRepository(ground);
      hostGit(
        ground,
        ground.workspace,
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "--quiet",
        "add",
        join(ground.outside, "library"),
        "lib",
      );
      hostGit(ground, ground.workspace, "commit", "--quiet", "-m", "library");
    },
    steps: strict(
      "git submodule status; cd lib; git switch -qc topic; echo x > x; git add x; git commit -qm 'in the library'; cd ..; git add lib; git commit -qm bump; git submodule status",
    ),
    says: "lib (heads/topic)",
  }),
  git({
    id: "clone",
    what: "clones a repository within the workspace, and works in the copy",
    steps: strict(
      "git clone -q . copy; cd copy; echo z > z; git add z; git commit -qm z; git log --oneline | wc -l",
    ),
    says: "3",
  }),
  git({
    id: "hook-of-user",
    what: "runs the hooks that the user has",
    setup: (ground) => {
      makeRepository(ground);
      write(join(ground.workspace, ".git/hooks/pre-commit"), "#!/bin/sh\necho the hook ran\n", 0o755);
    },
    steps: "git commit --allow-empty -qm x 2>&1",
    says: "the hook ran",
  }),
  git({
    id: "linked-settings",
    what: "takes the user's name from a .gitconfig that is a symbolic link",
    setup: (ground) => {
      makeRepository(ground);
      mkdirSync(join(ground.home, "dotfiles"));
      renameSync(join(ground.home, ".gitconfig"), join(ground.home, "dotfiles", "gitconfig"));
      symlinkSync("dotfiles/gitconfig", join(ground.home, ".gitconfig"));
    },
    steps: strict("git commit -q --allow-empty -m x; git log -1 --format=%an"),
    says: "Ada Probe",
  }),
  git({
    id: "none",
    what: "is told plainly that a folder is no repository",
    setup: () => undefined,
    steps: "git status; echo code $?",
    says: /not a git repository[\s\S]*code 128/,
  }),
];
