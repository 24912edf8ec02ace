/** All places of attempts behave alike: forks and git working trees, with uncommitted changes. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { changesIn, type Entrance, makePlaces, type Place } from "@lathe/attempts";
import { isFailure } from "@lathe/protocol";
import { runGitIn } from "@lathe/testkit";
import { type Bench, makeBench } from "../session-bench.test.ts";
import { localPlaces } from "./local-attempts.ts";

interface Opened {
  readonly bench: Bench;
  readonly cwd: string;
  readonly place: Place;
  inside(script: string): Promise<void>;
  read(path: string): string;
  isKnown(): boolean;
}

const kinds = ["fork", "worktree"] as const;
type Kind = (typeof kinds)[number];

async function open(test: TestContext, kind: Kind): Promise<Opened | undefined> {
  const bench = makeBench(`place-${kind}`);
  test.after(() => bench.remove());
  const env = { ...bench.env, XDG_CACHE_HOME: process.env.LATHE_TEST_CACHE ?? join(bench.root, "cache") };
  const { cwd } = bench;
  const put = (path: string, text: string | Buffer): void => {
    mkdirSync(dirname(join(cwd, path)), { recursive: true });
    writeFileSync(join(cwd, path), text);
  };
  for (const name of ["kept.txt", "changed.txt", "gone.txt", "old/only.txt", "mine.txt"])
    put(name, `${name}\n`);
  put("windows.txt", "one\r\ntwo\r\n");
  put(".gitignore", "ignored/\n");
  chmodSync(join(cwd, "changed.txt"), 0o600);
  runGitIn(bench.cwd, "init", "-q");
  runGitIn(bench.cwd, "add", ".");
  runGitIn(bench.cwd, "commit", "-qm", "first");
  put("mine.txt", "in no commit\n");
  put("new of mine.txt", "neither\n");
  put("ignored/big", "x\n");
  const places = localPlaces(env, ["/bin/true"]);
  const wish = { count: 1, cwd, about: "a test", session: "s-1", worktrees: kind === "worktree" };
  const found = await makePlaces(places, wish);
  assert.ok(!isFailure(found), isFailure(found) ? found.text : "");
  const [made] = found.made;
  if (made?.place.type !== kind) {
    await made?.open.drop();
    test.skip("there are no forks here");
    return undefined;
  }
  const { place: where, open: place } = made;
  return {
    bench,
    cwd,
    place,
    read: (path) => readFileSync(join(cwd, path), "utf8"),
    inside: async (script) => runIn(await place.enter(["/bin/sh", "-ec", script])),
    isKnown: () => places.find(where) !== undefined,
  };
}

function runIn(entrance: Parameters<typeof isFailure>[0] | Entrance): void {
  assert.ok(!isFailure(entrance), isFailure(entrance) ? entrance.text : "");
  const { words, cwd, env } = entrance as Entrance;
  const [file, ...args] = words;
  execFileSync(file, args, { cwd, env: env as NodeJS.ProcessEnv, encoding: "utf8" });
}

const work = `test "$(cat mine.txt)" = "in no commit"
test -f "new of mine.txt"
printf 'other\\n' > changed.txt
printf 'one\\r\\n2\\r\\n' > windows.txt
rm gone.txt old/only.txt; rmdir old
mkdir -p deep/er; printf '\\000\\001' > deep/er/binary; printf 'run\\n' > deep/run.sh; chmod 755 deep/run.sh
ln -s changed.txt link
mkdir -p ignored; printf 'y\\n' > ignored/made`;

/** The attempt hides these changes from git, but the comparison must still find them. */
const hidden = `
git update-index --assume-unchanged changed.txt; git rm -q --cached windows.txt
git -c user.name=a -c user.email=a@b commit -qm mine`;

for (const kind of kinds) {
  describe(`the place of an attempt: ${kind}`, () => {
    it("starts like the folder, changes nothing outside, and is applied completely", async (test) => {
      const opened = await open(test, kind);
      if (!opened) return;
      const { place, cwd, read } = opened;
      const before = await changesIn(place);
      assert.ok(!isFailure(before), isFailure(before) ? before.text : "");
      assert.deepEqual(before.diffs, []);
      await opened.inside(kind === "worktree" ? work + hidden : work);
      assert.equal(read("changed.txt"), "changed.txt\n");
      assert.ok(existsSync(join(cwd, "gone.txt")));
      const changes = await changesIn(place);
      assert.ok(!isFailure(changes), isFailure(changes) ? changes.text : "");
      // Only a fork also applies the files that git ignores.
      assert.equal(changes.files, kind === "fork" ? 8 : 7);
      assert.match(changes.diffs.join(""), /-changed\.txt\n\+other\n/);
      const taken = await place.take(() => undefined);
      assert.ok(!isFailure(taken), isFailure(taken) ? taken.text : "");
      assert.deepEqual([...taken.held], []);
      assert.equal(read("changed.txt"), "other\n");
      assert.equal(read("windows.txt"), "one\r\n2\r\n");
      assert.equal(lstatSync(join(cwd, "changed.txt")).mode & 0o777, 0o600);
      assert.equal(lstatSync(join(cwd, "deep/run.sh")).mode & 0o100, 0o100);
      assert.equal(readlinkSync(join(cwd, "link")), "changed.txt");
      assert.equal(existsSync(join(cwd, "gone.txt")) || existsSync(join(cwd, "old")), false);
      assert.deepEqual([read("mine.txt"), read("ignored/big")], ["in no commit\n", "x\n"]);
      assert.equal(opened.isKnown(), false);
      assertNothingLeft(opened);
    });

    it("shows its files to its tests, and discards the tests' changes", async (test) => {
      const opened = await open(test, kind);
      if (!opened) return;
      const { place } = opened;
      await opened.inside("printf 'other\\n' > changed.txt");
      const copy = await place.enterCopy([
        "/bin/sh",
        "-ec",
        'test "$(cat changed.txt mine.txt)" = "$(printf "other\\nin no commit\\n")"; git status > report; rm changed.txt',
      ]);
      assert.ok(!isFailure(copy), isFailure(copy) ? copy.text : "");
      runIn(copy.entrance);
      await copy.leave();
      const changes = await changesIn(place);
      assert.deepEqual(!isFailure(changes) && [changes.files, changes.added], [1, 1]);
      assert.equal(await place.drop(), undefined);
      assertNothingLeft(opened);
    });
  });
}

function assertNothingLeft({ bench }: Opened): void {
  assert.deepEqual(readdirSync(bench.root).includes("work.worktrees"), false);
  assert.match(runGitIn(bench.cwd, "branch", "--list", "lathe/*"), /^$/);
  assert.equal(runGitIn(bench.cwd, "worktree", "list").trim().split("\n").length, 1);
}

it("suggests a fix if there is neither a fork nor a repository", async (test) => {
  const bench = makeBench("place-none");
  test.after(() => bench.remove());
  const env = { ...bench.env, PATH: process.env.PATH };
  const wish = { count: 2, cwd: bench.cwd, about: "a test", session: "s-1" };
  const found = await makePlaces(localPlaces(env, ["/bin/true"]), { ...wish, worktrees: true });
  assert.ok(isFailure(found));
  assert.match(found.text, /in no git repository.*git init/);
  const within = { ...env, XDG_STATE_HOME: join(bench.cwd, "state") };
  const neither = await makePlaces(localPlaces(within, ["/bin/true"]), wish);
  assert.ok(isFailure(neither));
  assert.match(neither.text, /Not in forks: .*Not in git working trees: .*git init/);
  const inFork = await makePlaces(localPlaces({ ...env, LATHE_FORK: "f1" }, ["/bin/true"]), wish);
  assert.ok(isFailure(inFork));
  assert.match(inFork.text, /fork of a fork/);
});
