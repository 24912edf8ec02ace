/** `lathe run --best-of`: attempts side by side, each on a fork of its own; one is taken, nothing else is left. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
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

/** Why it cannot be tried here; undefined where there are forks. */
async function noForks(): Promise<string | undefined> {
  const place = makePlace();
  const { code, err } = await place.run(["sandbox", "exec", "--fork", "--", "true"]);
  place.remove();
  return code === 0 ? undefined : err;
}

const skip = await noForks();
const names = ["claude-opus-5-5", "claude-sonnet-5-5", "claude-haiku-4-5"];
const models = names.map((name) => `anthropic/${name}`).join(",");

/** What each attempt writes into the file that the test reads. */
const written = ["wrong\n", "right\n", "right\nand more\n"];

describe("lathe run --best-of", { ...(skip !== undefined && { skip }) }, () => {
  let place: Place;
  let server: WireServer;
  let judges: string;
  let held: { readonly asked: PromiseWithResolvers<void>; readonly go: Promise<void> } | undefined;

  beforeEach(async () => {
    held = undefined;
    judges = '{"best": 1, "why": "it is clear"}';
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
    if (request.system.includes("You judge changes")) return { parts: [{ type: "text", text: judges }] };
    const at = names.indexOf(String(body.model));
    const steps = request.messages.filter(({ role }) => role === "tool").length;
    if (steps === 0)
      return { parts: [callTo("shell", { command: "cat other.txt" }), callTo("read", { path: "word.txt" })] };
    if (steps === 1) return { parts: [callTo("write", { path: "word.txt", content: written[at] ?? "" })] };
    if (held && at === 2) {
      held.asked.resolve();
      return { parts: [], fault: { type: "stall", after: "nothing", pings: true } };
    }
    return { parts: [{ type: "text", text: `Attempt of ${body.model} is done.` }] };
  };
  const bestOf = (...more: readonly string[]): readonly string[] => [
    "run",
    ...[
      "--best-of",
      "3",
      "--attempt-models",
      models,
      "--test-command",
      "grep -q right word.txt && touch tested",
    ],
    ...more,
    "put the right word there",
  ];
  const word = (): string => readFileSync(join(place.workspace, "word.txt"), "utf8");
  const forks = async (): Promise<readonly { readonly about: string }[]> =>
    JSON.parse((await place.run(["fork", "list", "--json"])).out) as readonly { readonly about: string }[];
  const sessions = async (): Promise<readonly Listed[]> =>
    JSON.parse((await place.run(["sessions", "list", "--json"])).out) as readonly Listed[];

  it("takes the smallest change whose tests pass, and leaves nothing else", async () => {
    const { code, out, err } = await place.run(bestOf());
    assert.equal(code, 0, err);
    assert.equal(out, "Attempt of claude-sonnet-5-5 is done.\n");
    assert.match(err, /attempt 1 · 3 steps · \$\d.* · done, tests fail, 1 file \+1 -1/);
    assert.match(err, /→ {2}2 +tests pass +1 file \+1 -1 .* {2}claude-sonnet-5-5\n/);
    assert.match(err, /Attempt 2 is best, by the tests: its change is smaller \(2 lines\)\./);
    assert.equal(word(), "right\n");
    assert.equal(readFileSync(join(place.workspace, "other.txt"), "utf8"), "not committed\n");
    assert.deepEqual(readdirSync(place.workspace).toSorted(), [".git", "other.txt", "word.txt"]);
    assert.ok(server.records.some(({ text }) => text.includes("not committed")));
    assert.deepEqual([await forks(), place.leftovers()], [[], []]);
    const [parent, ...children] = await sessions();
    assert.deepEqual(
      children.map(({ agent, parent: of }) => [agent, of]).toSorted(),
      [1, 2, 3].map((number) => [`attempt ${number}`, parent?.id]),
    );
    assert.equal(parent?.status, "done");
    const cost = await place.run(["sessions", "cost", parent?.id ?? "", "--json"]);
    const { tree } = JSON.parse(cost.out) as { readonly tree: { readonly sessions: readonly unknown[] } };
    assert.equal(tree.sessions.length, 3);
    assert.match(
      (await place.run(["sessions", "show", parent?.id ?? ""])).out,
      /3 independent attempts.*word\.txt/,
    );
    const again = await place.run(["run", "--resume", children[0]?.id ?? "", "more"]);
    assert.match(again.err, new RegExp(`--resume ${parent?.id}`));
  });

  it("asks a model when told to, which sees no names, and does without where its answer is none", async () => {
    const json = ["--judge", "model", "--output-format", "json", "--no-apply"];
    const { code, out } = await place.run(bestOf(...json, "--seed", "3"));
    const found = JSON.parse(out) as {
      readonly winner: number;
      readonly by: string;
      readonly taken: boolean;
      readonly cost: number;
      readonly attempts: readonly { readonly cost: number }[];
    };
    assert.deepEqual([found.by, found.taken], ["model", false]);
    const own = found.attempts.reduce((sum, one) => sum + one.cost, 0);
    assert.ok(found.cost > own, `the judge is paid, too: ${found.cost} of which ${own}`);
    assert.equal(code, found.winner === 1 ? 1 : 0);
    const asked = server.records.at(-1)?.request;
    assert.deepEqual(asked?.tools, []);
    assert.match(JSON.stringify(asked?.messages), /\+wrong.*\+right|\+right.*\+wrong/);
    assert.doesNotMatch(JSON.stringify(asked?.messages), /claude|Attempt of/);
    assert.deepEqual([word(), (await forks()).length], ["none\n", 3]);
    judges = "I like them all.";
    const fallback = await place.run(bestOf("--judge", "model"));
    assert.equal(fallback.code, 0);
    assert.match(
      fallback.err,
      /by the tests: the model's judgement could not be used \(.*JSON.*\); without it: its change is/,
    );
    assert.equal(word(), "right\n");
  });

  it("takes nothing that somebody has changed meanwhile, and goes on once that is settled", async () => {
    held = { asked: Promise.withResolvers(), go: Promise.resolve() };
    const running = place.start(bestOf());
    await held.asked.promise;
    for (const at of [1, 2]) await running.said(`attempt ${at} · 3 steps`);
    place.put("word.txt", "mine\n");
    running.child.kill("SIGINT");
    const { code, err } = await running.ended;
    assert.equal(code, 130, err);
    assert.match(err, /go on with lathe run --resume/);
    assert.deepEqual(place.leftovers(), []);
    held = undefined;
    const more = await place.run(["run", "--continue"]);
    assert.equal(more.code, 1);
    assert.match(more.err, /changed .*: word\.txt.*fork keep \S+ --force/);
    assert.equal(word(), "mine\n");
    const [, id = ""] = /fork keep (\S+) --force/.exec(more.err) ?? [];
    assert.equal((await place.run(["fork", "keep", id, "--force"])).code, 0);
    const last = await place.run(["run", "--continue"]);
    assert.equal(last.code, 0, last.err);
    // It could have been dropped as well: what is left is a person's to decide on.
    assert.match(last.err, /by hand/);
    assert.deepEqual([word(), (await forks()).length], ["right\n", 2]);
    const after = await place.run(["run", "--continue", "and now?"]);
    assert.equal(after.code, 0, after.err);
  });

  it("leaves no process and no folder when it is killed, and goes on where it was", async () => {
    held = { asked: Promise.withResolvers(), go: Promise.resolve() };
    const running = place.start(bestOf());
    await held.asked.promise;
    for (const at of [1, 2]) await running.said(`attempt ${at} · 3 steps`);
    running.child.kill("SIGKILL");
    await running.ended;
    await until(() => place.leftovers().length === 0);
    assert.equal(word(), "none\n");
    assert.equal((await forks()).length, 3);
    assert.equal((await sessions())[0]?.status, "open");
    const refused = await place.run(["run", "--continue", "--best-of", "2", "x"]);
    assert.equal(refused.code, 2);
    held = undefined;
    const before = server.records.length;
    const more = await place.run(["run", "--continue"]);
    assert.equal(more.code, 0, more.err);
    assert.deepEqual([word(), await forks(), place.leftovers()], ["right\n", [], []]);
    // Those that were through with it are not asked again.
    assert.equal(server.records.length - before, 1);
  });

  it("runs no tests that the rules or the mode would not let run unasked", async () => {
    const refused = await place.run(bestOf("--judge", "tests", "--permission-mode", "ask"));
    assert.equal(refused.code, 2, refused.err);
    assert.match(
      refused.err,
      /the tests \(grep .*touch tested\) are not run, as nobody is asked: ask mode asks/,
    );
    assert.deepEqual([server.records.length, await forks()], [0, []]);
    const rules = [{ name: "no grep", kinds: ["execute"], target: "grep *", verdict: "deny" }];
    place.put("../home/.config/lathe/config.json", JSON.stringify({ rules }));
    const { code, err } = await place.run(bestOf());
    assert.equal(code, 0, err);
    assert.match(err, /are not run, as nobody is asked/);
    assert.match(err, /, no tests, 1 file/);
    assert.match(err, /is best, by a model: it is clear/);
  });

  it("holds all attempts to one budget", async () => {
    const { code, err } = await place.run(bestOf("--max-tokens", "200"));
    assert.equal(code, 3, err);
    assert.match(err, /No attempt is taken/);
    assert.deepEqual([word(), await forks()], ["none\n", []]);
  });

  it("says what is wrong with its words", async () => {
    const wrong: readonly (readonly [readonly string[], RegExp])[] = [
      [["--best-of", "1"], /from 2 up/],
      [["--best-of", "17"], /from 2 to 16/],
      [["--best-of", "2.5"], /whole number/],
      [["--best-of", "2", "--judge", "me"], /tests, model/],
      [["--best-of", "2", "--fork"], /goes without --fork/],
      [["--best-of", "2", "--judge", "tests"], /--test-command/],
      [["--judge", "tests"], /goes with --best-of/],
      [["--best-of", "2", "--attempt-models", "nobody/nothing"], /nobody/],
    ];
    for (const [args, text] of wrong) {
      const { code, err } = await place.run(["run", ...args, "do it"]);
      assert.equal(code, 2, err);
      assert.match(err, text);
    }
    assert.deepEqual([await sessions(), await forks()], [[], []]);
  });
});

interface Listed {
  readonly id: string;
  readonly agent?: string;
  readonly parent?: string;
  readonly status: string;
}
