/** Taking a session back: what tools and commands did to the files, and what was said about it. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { startWireServer, treeOf, type WireAnswer, type WireServer } from "@lathe/testkit";
import { call } from "./answer-parts.ts";
import { type Ended, makePlace, type Place, wireEnv } from "./lathe.ts";

const done: WireAnswer = { parts: [{ type: "text", text: "Done." }] };

const havoc = [
  "rm -r lib",
  "mv a.txt moved.txt",
  "chmod 600 script.sh",
  "mkdir -p new/deep && echo made > new/deep/file",
  "ln -sf nowhere link",
  "printf '\\000\\001' > data.bin",
  "rm local.db",
].join(" && ");

describe("lathe sessions rewind", () => {
  let place: Place;
  let server: WireServer;
  beforeEach(() => {
    place = makePlace();
  });
  afterEach(async () => {
    await server.close();
    place.remove();
  });

  const git = (...args: string[]): string =>
    execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@t", ...args], {
      cwd: place.workspace,
      encoding: "utf8",
      env: { ...process.env, HOME: place.home },
    });

  function fill(): void {
    place.put("a.txt", "one\ntwo\n");
    place.put("lib/b.txt", "b\n");
    place.put("script.sh", "#!/bin/sh\n");
    place.put("data.bin", "\0\xff\n");
    place.put("local.db", "KEY=1\n");
    place.put(".gitignore", "local.db\n");
    chmodSync(join(place.workspace, "script.sh"), 0o755);
    symlinkSync("a.txt", join(place.workspace, "link"));
  }

  async function work(answers: readonly WireAnswer[], args: readonly string[] = []): Promise<Ended> {
    server = await startWireServer(answers);
    const ended = await place.run(
      ["run", "--no-sandbox", "--allow", "*", "--allow", "delete:*", ...args, "go"],
      {
        env: wireEnv(server.url),
      },
    );
    assert.equal(ended.code, 0, ended.err);
    return ended;
  }

  /** Goes on with the newest session. */
  async function goOn(answers: readonly WireAnswer[], args: readonly string[] = ["go"]): Promise<void> {
    await server.close();
    server = await startWireServer(answers);
    const flags = ["--no-sandbox", "--allow", "*", "--continue"];
    const ended = await place.run(["run", ...flags, ...args], { env: wireEnv(server.url) });
    assert.equal(ended.code, 0, ended.err);
  }

  /** A session that dies in its second step, a command. */
  async function cutOff(): Promise<string> {
    server = await startWireServer([
      { parts: [call("e1", "write", { path: "first.txt", content: "1\n" })] },
      { parts: [call("c1", "shell", { command: "touch started && sleep 1" })] },
    ]);
    const { child, ended } = place.start(["run", "--no-sandbox", "--allow", "*", "go"], {
      env: wireEnv(server.url),
    });
    await place.made("started");
    child.kill("SIGKILL");
    await ended;
    return newest();
  }

  const sessions = async (...args: string[]): Promise<Ended> => place.run(["sessions", ...args]);
  const newest = async (): Promise<string> => {
    const { out } = await sessions("list", "--json");
    return (JSON.parse(out) as { id: string }[])[0]?.id ?? assert.fail(out);
  };
  const tree = () => treeOf(place.workspace);

  const twoSteps: readonly WireAnswer[] = [
    { parts: [call("e1", "write", { path: "first.txt", content: "1\n" })] },
    { parts: [call("c1", "shell", { command: havoc })] },
    { parts: [{ type: "text", text: "Done." }] },
  ];

  it("brings back what commands deleted, moved, chmodded and made, and never touches the user's git", async () => {
    fill();
    git("init", "-q");
    git("add", "a.txt", "lib");
    git("commit", "-qm", "one");
    writeFileSync(join(place.workspace, ".git/hooks/post-commit"), "#!/bin/sh\ntouch ran\n", { mode: 0o755 });
    git("add", "script.sh");
    const before = tree();
    await work(twoSteps);
    assert.notDeepEqual(tree(), before);
    const id = await newest();
    const { code, out } = await sessions("rewind", id);
    assert.equal(code, 0);
    assert.match(out, /Files and conversation are as they were before the turn.*--undo/s);
    assert.deepEqual(tree(), before);
    assert.equal(statSync(join(place.workspace, "script.sh")).mode & 0o777, 0o755);
  });

  it("goes back to one step, in a folder without git, and forward again", async () => {
    fill();
    await work(twoSteps);
    const after = tree();
    const id = await newest();
    assert.equal((await sessions("rewind", id, "--to", "2", "--files")).code, 0);
    assert.equal(readFileSync(join(place.workspace, "first.txt"), "utf8"), "1\n");
    assert.equal(readFileSync(join(place.workspace, "local.db"), "utf8"), "KEY=1\n");
    assert.equal((await sessions("rewind", id, "--undo")).code, 0);
    assert.deepEqual(tree(), after);
    assert.equal((await sessions("rewind", id, "--undo")).code, 0, "an undo can be undone");
    assert.equal((await sessions("rewind", id, "--to", "9")).code, 2);
  });

  it("does not overwrite what somebody changed since, unless forced to", async () => {
    fill();
    await work([
      { parts: [call("c1", "edit", { path: "a.txt", edits: [{ old: "two", new: "2" }] })] },
      { parts: [{ type: "text", text: "Done." }] },
    ]);
    place.put("a.txt", "mine\n");
    place.put("other.txt", "mine\n");
    const id = await newest();
    const refused = await sessions("rewind", id);
    assert.notEqual(refused.code, 0);
    assert.match(refused.err, /changed a\.txt while .*--force/, "what it did not touch is no obstacle");
    assert.equal(readFileSync(join(place.workspace, "a.txt"), "utf8"), "mine\n");
    assert.equal((await sessions("rewind", id, "--force")).code, 0);
    assert.equal(readFileSync(join(place.workspace, "a.txt"), "utf8"), "one\ntwo\n");
    assert.equal(readFileSync(join(place.workspace, "other.txt"), "utf8"), "mine\n");
    assert.equal((await sessions("rewind", id, "--undo")).code, 0);
    assert.equal(readFileSync(join(place.workspace, "a.txt"), "utf8"), "mine\n");
  });

  it("does not overwrite what somebody changed between two turns", async () => {
    fill();
    await work([
      { parts: [call("c1", "write", { path: "n.txt", content: "1\n" })] },
      { parts: [{ type: "text", text: "Done." }] },
    ]);
    await server.close();
    const id = await newest();
    place.put("n.txt", "mine\n");
    await work(
      [
        { parts: [call("c2", "shell", { command: "echo 2 >> m.txt" })] },
        { parts: [{ type: "text", text: "Done." }] },
      ],
      ["--continue"],
    );
    const refused = await sessions("rewind", id, "--to", "1");
    assert.match(refused.err, /changed n\.txt while the session was not at work/);
    assert.equal((await sessions("rewind", id)).code, 0, "the last turn did not touch it");
    assert.equal(readFileSync(join(place.workspace, "n.txt"), "utf8"), "mine\n");
  });

  it("leaves alone what somebody made between two turns and the session never touched", async () => {
    fill();
    await work([{ parts: [call("c1", "write", { path: "n/n.txt", content: "1\n" })] }, done]);
    place.put("user.txt", "mine\n");
    place.put("n/user.txt", "mine\n");
    place.put("a.txt", "mine\n");
    rmSync(join(place.workspace, "local.db"));
    const own = tree();
    await goOn([{ parts: [call("c2", "write", { path: "m.txt", content: "2\n" })] }, done]);
    const id = await newest();
    for (const force of [[], ["--force"]]) {
      const ended = await sessions("rewind", id, "--to", "1", ...force);
      assert.equal(ended.code, 0, ended.err);
      const { "n/n.txt": _, ...left } = own;
      assert.deepEqual(tree(), left);
      assert.equal((await sessions("rewind", id, "--undo")).code, 0);
      assert.equal(readFileSync(join(place.workspace, "m.txt"), "utf8"), "2\n");
    }
  });

  it("tells the session's changes from those between its turns", async () => {
    fill();
    await work([{ parts: [call("c1", "write", { path: "n.txt", content: "1\n" })] }, done]);
    place.put("n.txt", "mine\n");
    place.put("other.txt", "mine\n");
    await goOn([{ parts: [call("c2", "write", { path: "m.txt", content: "2\n" })] }, done]);
    const { out } = await sessions("diff", await newest());
    assert.match(out, /A n\.txt \(changed by somebody else as well\)/);
    assert.ok(out.includes("A m.txt") && !out.includes("other.txt"), out);
  });

  it("takes back a turn that was cut off, and gives it back whole", async () => {
    fill();
    const before = tree();
    const id = await cutOff();
    const refused = await sessions("rewind", id, "--files");
    assert.match(refused.err, /started changed while nobody watched.*--force/);
    assert.equal((await sessions("rewind", id, "--force")).code, 0);
    assert.deepEqual(tree(), before);
    assert.equal((await sessions("rewind", id, "--undo")).code, 0);
    await goOn([done]);
    const [request] = server.records;
    const said = JSON.stringify(request?.request.messages);
    assert.match(said, /"tool-call".*"tool-call".*taken back while this turn was open/);
  });

  it("does not take what changed while nobody watched for the session's", async () => {
    fill();
    const id = await cutOff();
    place.put("a.txt", "mine\n");
    await goOn([{ parts: [call("c3", "write", { path: "m.txt", content: "2\n" })] }, done], []);
    const refused = await sessions("rewind", id);
    assert.match(refused.err, /a\.txt.* changed while nobody watched.*--force/);
    assert.equal(readFileSync(join(place.workspace, "a.txt"), "utf8"), "mine\n");
    assert.match((await sessions("diff", id)).out, /M a\.txt \(perhaps changed by somebody else as well\)/);
    assert.equal((await sessions("rewind", id, "--force")).code, 0);
    assert.equal(readFileSync(join(place.workspace, "a.txt"), "utf8"), "one\ntwo\n");
  });

  it("tells the model when the files come back without it", async () => {
    fill();
    await work(twoSteps);
    const id = await newest();
    assert.equal((await sessions("rewind", id, "--files")).code, 0);
    assert.equal((await sessions("rewind", id, "--undo")).code, 0);
    await goOn([done]);
    const said = JSON.stringify(server.records[0]?.request.messages);
    assert.match(said, /put the files back.*took the last rewind of the files back/);
  });

  it("does not say that files went back which nobody kept", async () => {
    await work(
      [{ parts: [call("c1", "write", { path: "n.txt", content: "1\n" })] }, done],
      ["--no-checkpoints"],
    );
    const id = await newest();
    const refused = await sessions("rewind", id);
    assert.match(refused.err, /cannot go back: checkpoints are switched off.*--conversation/);
    assert.equal((await sessions("rewind", id, "--conversation")).code, 0);
  });

  it("says so when the checkpoints are gone", async () => {
    fill();
    await work(twoSteps);
    rmSync(join(place.home, ".local/state/lathe/checkpoints"), { recursive: true });
    const { code, err } = await sessions("rewind", await newest());
    assert.notEqual(code, 0);
    assert.match(err, /checkpoints are gone.*--conversation/);
  });

  it("offers each model its own way of editing when it goes on with a session", async () => {
    await work([done], ["--model", "anthropic/claude-sonnet-4-5"]);
    const offered = (): readonly string[] => server.records[0]?.request.tools ?? [];
    const [first, again] = [
      offered(),
      await goOn([done], ["--model", "anthropic/gpt-5", "go"]).then(offered),
    ];
    assert.ok(first.includes("edit") && !first.includes("apply_patch"), first.join());
    assert.ok(again.includes("apply_patch") && !again.includes("edit"), again.join());
  });

  it("takes the conversation back, so that the model never hears of it", async () => {
    fill();
    await work(twoSteps);
    await server.close();
    const id = await newest();
    assert.equal((await sessions("rewind", id, "--conversation")).code, 0);
    await work([{ parts: [{ type: "text", text: "Yes." }] }], ["--continue"]);
    const said = JSON.stringify(server.records[0]?.request.messages);
    assert.ok(!said.includes("first.txt") && said.includes("left the files as they are"), said);
    const shown = await sessions("show", id);
    assert.match(shown.out, /the conversation went back to before step 1/);
  });

  it("shows what a session changed", async () => {
    fill();
    await work(twoSteps);
    const id = await newest();
    const { code, out } = await sessions("diff", id);
    assert.equal(code, 0);
    for (const line of [
      "D local.db",
      "D lib/b.txt",
      "A first.txt",
      "+1",
      "M data.bin",
      "m script.sh 0755 → 0600",
      "D a.txt",
    ]) {
      assert.ok(out.includes(line), `${line} in\n${out}`);
    }
    const json = JSON.parse((await sessions("diff", id, "--json")).out) as { path: string }[];
    assert.ok(json.some(({ path }) => path === "moved.txt"));
  });

  it("exports each edit with its texts, and whether it survived", async () => {
    fill();
    place.put("bom.txt", "\uFEFFfirst\n");
    await work([
      { parts: [call("c0", "read", { path: "a.txt" })] },
      { parts: [call("c1", "edit", { path: "a.txt", edits: [{ old: "two", new: "2" }] })] },
      { parts: [call("c2", "write", { path: "n.ts", content: "let a = 1;\n" })] },
      { parts: [call("c3", "shell", { command: "echo 'let b = 2;' > n.ts" })] },
      { parts: [call("c4", "delete", { path: "lib/b.txt" })] },
      { parts: [call("c5", "edit", { path: "bom.txt", edits: [{ old: "first", new: "1st" }] })] },
      { parts: [{ type: "text", text: "Done." }] },
    ]);
    const { code, out, err } = await sessions("export", await newest(), "--format", "edits");
    assert.deepEqual([code, err], [0, ""]);
    const edits = out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    assert.deepEqual(
      edits.map(({ step, tool, path, language, original, final, tier, survived }) => [
        step,
        tool,
        path,
        language,
        original,
        final,
        tier,
        survived,
      ]),
      [
        [2, "edit", "a.txt", "txt", "one\ntwo\n", "one\n2\n", "exact", true],
        [3, "write", "n.ts", "typescript", null, "let a = 1;\n", "whole-file", false],
        [5, "delete", "lib/b.txt", "txt", "b\n", null, "whole-file", true],
        [6, "edit", "bom.txt", "txt", "\uFEFFfirst\n", "\uFEFF1st\n", "exact", true],
      ],
    );
    assert.deepEqual(edits[0].command, { path: "a.txt", edits: [{ old: "two", new: "2" }] });
  });

  it("says why there is nothing to go back to in a home folder", async () => {
    server = await startWireServer(twoSteps);
    const env = { ...wireEnv(server.url), HOME: place.workspace };
    const ended = await place.run(["run", "--no-sandbox", "go"], { env });
    assert.equal(ended.code, 0, ended.err);
    const { out } = await place.run(["sessions", "list", "--json"], { env });
    const id = (JSON.parse(out) as { id: string }[])[0]?.id ?? "";
    assert.match((await place.run(["sessions", "diff", id], { env })).out, /No checkpoints: .*home/i);
  });
});
