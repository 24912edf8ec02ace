/** `lathe run --best-of` in git working trees: where a folder can have no forks, or when they are asked for. */
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import {
  runGitIn,
  startWireServer,
  until,
  type WireAnswer,
  type WireRecord,
  type WireServer,
} from "@lathe/testkit";
import { callTo } from "./answer-parts.ts";
import { makePlace, type Place, wireEnv } from "./lathe.ts";

const names = ["claude-opus-5-5", "claude-sonnet-5-5"];
const models = names.map((name) => `anthropic/${name}`).join(",");
const written = ["wrong\n", "right\n"];

describe("lathe run --best-of, in git working trees", () => {
  let place: Place;
  let server: WireServer;
  let held: PromiseWithResolvers<void> | undefined;

  beforeEach(async () => {
    held = undefined;
    server = await startWireServer((record) => answerOf(record));
    place = makePlace(wireEnv(server.url));
    place.put("word.txt", "none\n");
    place.put("other.txt", "as it was\n");
    runGitIn(place.workspace, "init", "-q");
    runGitIn(place.workspace, "add", ".");
    runGitIn(place.workspace, "commit", "-qm", "first");
    place.put("other.txt", "not committed\n");
  });
  afterEach(async () => {
    await server.close();
    place.remove();
  });

  const answerOf = ({ body, request }: WireRecord): WireAnswer => {
    const at = names.indexOf(String(body.model));
    const steps = request.messages.filter(({ role }) => role === "tool").length;
    if (steps === 0)
      return { parts: [callTo("shell", { command: "cat other.txt" }), callTo("read", { path: "word.txt" })] };
    if (steps === 1) return { parts: [callTo("write", { path: "word.txt", content: written[at] ?? "" })] };
    if (held && at === 1) {
      held.resolve();
      return { parts: [], fault: { type: "stall", after: "nothing", pings: true } };
    }
    return { parts: [{ type: "text", text: `Attempt of ${body.model} is done.` }] };
  };
  const bestOf = (...more: readonly string[]): readonly string[] => [
    ...["run", "--best-of", "2", "--attempt-models", models],
    ...["--test-command", "grep -q right word.txt && touch tested", ...more, "put the right word there"],
  ];
  const word = (): string => readFileSync(join(place.workspace, "word.txt"), "utf8");
  const listed = async (): Promise<readonly { readonly id: string; readonly worktree?: string }[]> =>
    JSON.parse((await place.run(["fork", "list", "--json"])).out) as readonly { readonly id: string }[];
  const assertNothingLeft = async (): Promise<void> => {
    assert.deepEqual([await listed(), place.leftovers()], [[], []]);
    assert.equal(existsSync(`${place.workspace}.worktrees`), false);
    assert.equal(runGitIn(place.workspace, "branch", "--list", "lathe/*"), "");
    assert.equal(runGitIn(place.workspace, "worktree", "list").trim().split("\n").length, 1);
  };

  it("takes the one whose tests pass, with the work that is in no commit, and leaves nothing else", async () => {
    const { code, out, err } = await place.run(bestOf("--worktree"));
    assert.equal(code, 0, err);
    assert.equal(out, "Attempt of claude-sonnet-5-5 is done.\n");
    assert.match(err, /→ {2}2 +tests pass +1 file \+1 -1 /);
    assert.deepEqual(
      [word(), readFileSync(join(place.workspace, "other.txt"), "utf8")],
      ["right\n", "not committed\n"],
    );
    assert.deepEqual(readdirSync(place.workspace).toSorted(), [".git", "other.txt", "word.txt"]);
    assert.ok(server.records.some(({ text }) => text.includes("not committed")));
    await assertNothingLeft();
  });

  it("does so by itself where no view of the folder can be had, and says so", async () => {
    const linked = join(dirname(place.workspace), "linked");
    runGitIn(place.workspace, "worktree", "add", "-q", linked);
    const { code, err } = await place.run(bestOf("--cwd", linked));
    assert.equal(code, 0, err);
    assert.match(err, /the attempts work in git working trees.*(linked working tree|launcher|Linux)/);
    assert.deepEqual([readFileSync(join(linked, "word.txt"), "utf8"), word()], ["right\n", "none\n"]);
    runGitIn(place.workspace, "worktree", "remove", "--force", linked);
    await assertNothingLeft();
  });

  it("is killed, lists what is left, and goes on or is dropped", async () => {
    held = Promise.withResolvers();
    const running = place.start(bestOf("--worktree"));
    await held.promise;
    await running.said("attempt 1 · 3 steps");
    running.child.kill("SIGKILL");
    await running.ended;
    await until(() => place.leftovers().length === 0);
    assert.equal(word(), "none\n");
    const left = await listed();
    assert.deepEqual([left.length, left.every(({ worktree }) => existsSync(worktree ?? ""))], [2, true]);
    const [first] = left;
    const shown = await place.run(["fork", "diff", first?.id ?? ""]);
    assert.match(shown.out, /-none\n\+wrong\n/);
    held = undefined;
    place.put("word.txt", "mine\n");
    const refused = await place.run(["run", "--continue"]);
    assert.equal(refused.code, 1, refused.err);
    assert.match(refused.err, /changed .*: word\.txt.*fork keep \S+ --force/);
    assert.equal(word(), "mine\n");
    place.put("word.txt", "none\n");
    const more = await place.run(["run", "--continue"]);
    assert.deepEqual([more.code, word()], [0, "right\n"], more.err);
    await assertNothingLeft();
  });

  it("keeps them where nothing is to be taken over, until somebody decides", async () => {
    const { code, err } = await place.run(bestOf("--worktree", "--no-apply"));
    assert.equal(code, 0, err);
    assert.equal(word(), "none\n");
    const [first, second] = await listed();
    const { out } = await place.run(["sessions", "list"]);
    assert.match(
      out,
      /\n2 copies of folders are .*: `lathe fork list`.*`lathe fork diff\|keep\|drop ID`.*\n$/,
    );
    assert.match(err, new RegExp(`attempt 2 \\(best\\): .*fork keep ${second?.id}`));
    assert.equal((await place.run(["fork", "drop", first?.id ?? ""])).code, 0);
    assert.equal((await place.run(["fork", "keep", second?.id ?? ""])).code, 0);
    assert.equal(word(), "right\n");
    await assertNothingLeft();
    assert.doesNotMatch((await place.run(["sessions", "list"])).out, /fork list/);
  });

  it("says what is wrong: dirty work, no repository, names", async () => {
    const wrong: readonly (readonly [readonly string[], RegExp])[] = [
      [["--worktree", "--dirty", "refuse"], /1 changed file.*in no commit/],
      [["--worktree=mine"], /no name with --best-of/],
      [["--worktree", "--base", "HEAD"], /--base goes without --best-of/],
      [["--worktree", "--cwd", dirname(place.workspace)], /no git repository.*git init/],
    ];
    for (const [args, text] of wrong) {
      const { code, err } = await place.run(bestOf(...args));
      assert.equal(code, 2, err);
      assert.match(err, text);
    }
    await assertNothingLeft();
  });
});
