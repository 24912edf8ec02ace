/**
 * Tests files that run later: writing one that a program obeys needs approval with any tool; others are
 * reported.
 */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { startWireServer, type WireAnswer, type WireServer } from "@lathe/testkit";
import { call, say } from "./answer-parts.ts";
import { makePlace } from "./in-process.ts";
import { type Place, wireEnv } from "./lathe.ts";

describe("files that run later", () => {
  let place: Place;
  let server: WireServer;
  let answers: readonly WireAnswer[];
  beforeEach(async () => {
    place = makePlace();
    server = await startWireServer(() => {
      const [next = { parts: [say("Done.")] }, ...rest] = answers;
      answers = rest;
      return next;
    });
  });
  afterEach(async () => {
    await server.close();
    place.remove();
  });

  const lathe = (...args: readonly string[]) => place.run([...args], { env: wireEnv(server.url) });
  const write = (path: string, content: string): WireAnswer => ({
    parts: [call(`w${path}`, "write", { path, content })],
  });

  it("need approval with each tool, and are not left behind by a headless run", async () => {
    const paths = [
      ".opencode/plugin/x.js",
      ".Vscode/tasks.json",
      "mise.toml",
      "sub/HEAD",
      ".cargo/config.toml",
    ];
    for (const path of paths) {
      answers = [write(path, "x\n")];
      const { code } = await lathe("run", "--no-sandbox", "go");
      assert.equal(code, 3, path);
      assert.equal(existsSync(join(place.workspace, path)), false, path);
    }
  });

  it("ask about the parts of a bare repository only once they could form one", async () => {
    place.put("sub/HEAD", "ref: refs/heads/main\n");
    answers = [write("sub/config", "[core]\n\tbare = false\n")];
    assert.equal((await lathe("run", "--no-sandbox", "go")).code, 3);
    assert.equal(existsSync(join(place.workspace, "sub/config")), false);
    answers = [write("other/config", "a = b\n")];
    assert.equal((await lathe("run", "--no-sandbox", "go")).code, 0);
  });

  it("are reported once if changed by a tool or by a command", async () => {
    place.put("package.json", '{"scripts":{"test":"node t.js"}}\n');
    const commands = [
      `echo '{"scripts":{"test":"node -e 0"}}' > package.json`,
      "printf 'all:\\n' > Makefile; touch a.sh; chmod +x a.sh; mkdir .new; touch .new/a src.txt",
    ];
    const work = (): void => {
      answers = [
        write("AGENTS.md", "Do this.\n"),
        ...commands.map((command, at) => ({ parts: [call(`s${at}`, "shell", { command })] })),
      ];
    };
    work();
    const ran = await lathe("run", "--no-sandbox", "--output-format", "json", "go");
    assert.equal(ran.code, 0, ran.err);
    const { runLater, session } = JSON.parse(ran.out);
    const expected = {
      ".new/": "new hidden folder",
      "AGENTS.md": "later agent sessions follow it",
      Makefile: "make runs it",
      "a.sh": "new executable",
      "package.json": "scripts: test",
    };
    const named = (files: readonly { path: string; why: string }[]) =>
      Object.fromEntries(files.map(({ path, why }) => [path, why]));
    assert.deepEqual(named(runLater), expected);

    const json = JSON.parse((await lathe("sessions", "diff", session, "--json")).out);
    const marked = json.flatMap(({ path, runsLater }: { path: string; runsLater?: string }) =>
      runsLater === undefined ? [] : [[path, runsLater]],
    );
    assert.deepEqual(Object.fromEntries(marked), {
      ...Object.fromEntries(Object.entries(expected).filter(([path]) => path !== ".new/")),
      ".new/a": "new hidden folder",
    });
    const text = (await lathe("sessions", "diff", session)).out;
    for (const [path, why] of marked) assert.ok(text.includes(`${path} (${why})`), text);

    answers = [write("CLAUDE.md", "Do that.\n"), { parts: [call("s", "shell", { command: "true" })] }];
    const piped = await lathe("run", "--no-sandbox", "go");
    assert.equal(piped.out, "Done.\n");
    assert.equal(piped.err.match(/CLAUDE\.md/g)?.length, 1, piped.err);
    answers = [];
    assert.doesNotMatch((await lathe("run", "--no-sandbox", "--continue", "go")).err, /CLAUDE/);
  });
});
