/**
 * Tests the effort of models: set in a file, on the line, in the chat and in an editor, and sent to the
 * provider.
 */
import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import { startWireServer, type WireAnswer, type WireServer } from "@lathe/testkit";
import { openAcpBench, prompt } from "./acp-bench.ts";
import { call, say } from "./answer-parts.ts";
import { makePlace } from "./in-process.ts";
import { type Place, wireEnv } from "./lathe.ts";
import { noTmux, openTmux } from "./tmux.ts";

/** The effort of each request, in order. */
function asked({ records }: WireServer): readonly (string | undefined)[] {
  return records.map(({ text }) => JSON.parse(text).output_config?.effort);
}

describe("effort", () => {
  let place: Place;
  let server: WireServer;
  let answers: WireAnswer[] = [];
  beforeEach(async () => {
    place = makePlace();
    answers = [];
    server = await startWireServer(() => answers.shift() ?? { parts: [say("Well.")] });
  });
  afterEach(async () => {
    await server.close();
    place.remove();
  });
  const run = async (...args: readonly string[]): Promise<string> => {
    const { code, err } = await place.run(["run", ...args], { env: wireEnv(server.url) });
    assert.equal(code, 0, err);
    return err;
  };
  const configure = (effort: string): void =>
    place.put("../home/.config/lathe/config.json", JSON.stringify({ effort }));

  it("comes from the line, otherwise from the user's file, otherwise it is not sent", async () => {
    await run("go");
    configure("low");
    await run("go");
    await run("--effort", "high", "go");
    await run("--effort", "default", "go");
    assert.deepEqual(asked(server), [undefined, "low", "high", undefined]);
  });

  it("stays with a resumed session until another one is chosen", async () => {
    await run("--effort", "high", "go");
    configure("low");
    await run("--continue", "on");
    await run("--continue", "--effort", "medium", "on");
    await run("--continue", "--effort", "default", "on");
    await run("--continue", "on");
    assert.deepEqual(asked(server), ["high", "high", "medium", undefined, "low"]);
  });

  it("also applies to a subagent, unless its definition sets another", async () => {
    const front = (effort: string): string =>
      `---\nname: quick\ndescription: is quick${effort}\n---\nBe quick.\n`;
    place.put(".claude/agents/quick.md", front("\neffort: low"));
    const task = (agent: string): WireAnswer => ({ parts: [call("t", "task", { agent, prompt: "look" })] });
    answers = [task("quick")];
    await run("--effort", "high", "go");
    answers = [task("explore")];
    await run("--effort", "high", "go");
    assert.deepEqual(asked(server), ["high", "low", "high", "high", "high", "high"]);
  });

  it("is refused if no such level exists, on the line and in the file", async () => {
    const line = await place.run(["run", "--effort", "hihg", "go"]);
    assert.equal(line.code, 2);
    assert.match(line.err, /--effort is one of default, minimal, low, medium, high, xhigh, max, not "hihg"/);
    configure("hihg");
    const file = await place.run(["run", "go"]);
    assert.equal(file.code, 2);
    assert.match(file.err, /effort: one of minimal, low/);
    assert.equal(server.records.length, 0);
  });

  it("cannot be set by a project's file", async () => {
    place.put("lathe.json", JSON.stringify({ effort: "max" }));
    const { code, err } = await place.run(["run", "go"], { env: wireEnv(server.url) });
    assert.equal(code, 2);
    assert.match(err, /only your own configuration may set this/);
  });

  it("can be chosen in the chat, is in the status line and carries over into a fork", {
    skip: noTmux(),
  }, async () => {
    const size = { columns: 100, rows: 40 };
    const terminal = await openTmux(place, ["say the first"], { size, env: wireEnv(server.url) });
    await terminal.until("done · 1 step");
    await terminal.say("/effort high");
    await terminal.until(/claude-sonnet-5-5 high · auto/);
    await terminal.say("/fork");
    await terminal.until(/\/fork\s+\S[\s\S]*claude-sonnet-5-5 high · auto/);
    await terminal.say("second");
    await terminal.until(/second[\s\S]*done · 1 step/);
    await terminal.say("/effort");
    await terminal.until(/How much the model thinks, now high[\s\S]*7\. max/);
    await terminal.say("default");
    await terminal.until("Effort: default.");
    await terminal.say("third");
    await terminal.until(/third[\s\S]*done · 1 step/);
    await terminal.say("/effort hihg");
    await terminal.until("there is no effort hihg; did you mean high?");
    await terminal.close();
    assert.deepEqual(asked(server), [undefined, "high", undefined]);
  });
});

describe("lathe acp", () => {
  const at = openAcpBench();

  it("accepts /effort, which survives a change of mode", async () => {
    await at.serve((_, i) => ({ parts: [say(`answer ${i + 1}`)] }));
    const editor = await at.open();
    const id = await at.begin(editor);
    for (const text of ["one", "/effort low", "two", "/permissions ask", "three", "/effort default", "four"])
      await at.ask(editor, id, prompt(text));
    assert.deepEqual(asked(at.server), [undefined, "low", "low", undefined]);
  });
});
