/** Keys of the chat: the permissions' next mode, what was said before, and the prompt in one's own editor. */
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { startWireServer, type WireAnswer, type WireServer } from "@lathe/testkit";
import { call, say } from "./answer-parts.ts";
import { makePlace, type Place, wireEnv } from "./lathe.ts";
import { noTmux, openTmux, type Tmux } from "./tmux.ts";

const size = { columns: 100, rows: 40 };

describe("keys of the chat", { skip: noTmux() }, () => {
  let place: Place;
  let server: WireServer;
  let terminal: Tmux;
  let answers: WireAnswer[] = [];
  beforeEach(async () => {
    place = makePlace();
    answers = [];
    server = await startWireServer(() => answers.shift() ?? { parts: [say("Well.")] });
    place.put("ask.sh", 'echo EDITOR IS HERE\nread line\nprintf \'%s\\n\\n\' "$line" >> "$1"\n');
    place.put("fail.sh", 'echo lost > "$1"\nexit 7\n');
  });
  afterEach(async () => {
    await terminal.close();
    await server.close();
    place.remove();
  });
  const open = async (args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<void> => {
    terminal = await openTmux(place, ["--no-sandbox", ...args], {
      size,
      env: { ...wireEnv(server.url), ...env },
    });
    await terminal.until(/claude-sonnet-5-5 · \w+/);
  };
  const type = async (text: string): Promise<void> => {
    await terminal.type(text);
    await terminal.press("Enter");
  };
  const said = (): readonly string[] =>
    server.records.map(({ request }) => {
      const part = request.messages.findLast(({ role }) => role === "user")?.parts[0];
      return part?.type === "text" ? part.text : "";
    });

  it("Shift-Tab goes from mode to mode, and answers no question", async () => {
    await open([]);
    for (const mode of ["plan", "ask", "auto", "plan"]) {
      await terminal.press("BTab");
      await terminal.until(`claude-sonnet-5-5 · ${mode}`);
    }
    await terminal.press("BTab");
    await terminal.until("claude-sonnet-5-5 · ask");
    answers = [{ parts: [call("w", "write", { path: "a.txt", content: "a" })] }];
    await type("write it");
    await terminal.until("Enter answers");
    // A question is not answered by it.
    await terminal.press("BTab");
    await terminal.press("Escape");
    await terminal.until("interrupted ·");
    await terminal.until("claude-sonnet-5-5 · ask");
    assert.ok(!existsSync(join(place.workspace, "a.txt")));
  });

  it("the bell rings for somebody who looks elsewhere, when the agent asks and when it is done", async () => {
    await open(["--permission-mode", "ask"]);
    const file = join(dirname(place.home), "tmp", "written");
    await terminal.record(file);
    const rings = (): number => readFileSync(file, "utf8").split("\u0007").length - 1;
    await type("first");
    await terminal.until("done · 1 step");
    assert.equal(rings(), 0);
    await terminal.type("\u001b[O");
    await type("second");
    await terminal.until(/second[\s\S]*done · 1 step/);
    assert.equal(rings(), 1);
    answers = [{ parts: [call("w", "write", { path: "a.txt", content: "a" })] }];
    await type("third");
    await terminal.until("Enter answers");
    assert.equal(rings(), 2);
    await terminal.type("\u001b[I");
    await terminal.press("Enter");
    await terminal.until(/third[\s\S]*done · 2 steps/);
    assert.equal(rings(), 2);
    await terminal.press("C-d");
    await terminal.until("exit 0");
    assert.ok(readFileSync(file, "utf8").includes("\u001b[?1004l"));
  });

  it("and not where the user wants none", async () => {
    place.put("../home/.config/lathe/config.json", JSON.stringify({ bell: false }));
    await open([]);
    const file = join(dirname(place.home), "tmp", "written");
    await terminal.record(file);
    await terminal.type("\u001b[O");
    await type("first");
    await terminal.until("done · 1 step");
    await terminal.press("C-d");
    await terminal.until("exit 0");
    const written = readFileSync(file, "utf8");
    assert.ok(!written.includes("\u0007") && !written.includes("?1004"), written);
  });

  it("Ctrl-R finds what was said before, and puts it where it can be changed", async () => {
    await open(["mend the parser, please"]);
    await terminal.until("done · 1 step");
    await type("now its tests");
    await terminal.until(/now its tests[\s\S]*done · 1 step/);
    await terminal.press("C-r");
    await terminal.until(/Say again[\s\S]*1\. now its tests/);
    await type("pars");
    await terminal.gone(/Say again/);
    await type(" again");
    await terminal.until(/mend the parser, please again[\s\S]*done · 1 step/);
    await terminal.press("C-r");
    await terminal.until("Say again");
    await terminal.press("Escape");
    await terminal.gone(/Say again/);
    assert.deepEqual(said(), ["mend the parser, please", "now its tests", "mend the parser, please again"]);
  });

  it("Ctrl-G gives the editor what is typed, pastes in full, while the agent goes on", async () => {
    answers = [{ parts: [call("s", "shell", { command: "sleep 0.5; touch done" })] }];
    await open([], { EDITOR: "sh ask.sh" });
    const file = join(dirname(place.home), "tmp", "written");
    await terminal.record(file);
    await type("begin");
    await terminal.until("Esc interrupts");
    const lines = Array.from({ length: 15 }, (_, at) => `pasted ${at}`);
    await terminal.paste(lines.join("\n"));
    await terminal.until("[paste #1 +15 lines]");
    await terminal.press("C-g");
    await terminal.until("EDITOR IS HERE");
    while (server.records.length < 2) await sleep(20);
    assert.doesNotMatch(await terminal.screen(), /done · /);
    // Of what is not drawn the bell tells.
    while (!readFileSync(file, "utf8").includes("\u0007")) await sleep(20);
    await type("and from the editor");
    await terminal.until(/done · 2 steps/);
    await terminal.until(/pasted 14and from the editor/);
    await terminal.press("Enter");
    await terminal.until(/pasted 14and from the editor[\s\S]*done · 1 step/);
    assert.equal(said().at(-1), `${lines.join("\n")}and from the editor`);
    const left = readdirSync(join(dirname(place.home), "tmp"));
    assert.ok(!left.some((name) => name.startsWith("lathe-prompt-")), left.join());
  });

  it("Ctrl-G keeps what is typed where the editor fails, or there is none", async () => {
    await open([], { EDITOR: "sh fail.sh" });
    await terminal.type("my words");
    await terminal.press("C-g");
    await terminal.until("sh fail.sh ended with exit 7: what was typed stays as it was");
    await terminal.press("Enter");
    await terminal.until("done · 1 step");
    assert.deepEqual(said(), ["my words"]);
    await terminal.close();
    await open([], { VISUAL: "sh ask.sh", EDITOR: "sh fail.sh" });
    await terminal.press("C-g");
    await terminal.until("EDITOR IS HERE");
    await terminal.press("C-c");
    await terminal.until("sh ask.sh ended with SIGINT: what was typed stays as it was");
    await terminal.close();
    await open([]);
    await terminal.press("C-g");
    await terminal.until("no editor is chosen: set VISUAL or EDITOR");
  });

  it("Esc twice clears what was typed, and then goes back to before a step, whose words can be changed", async () => {
    await open(["--permission-mode", "auto"]);
    answers = [{ parts: [call("w", "write", { path: "a.txt", content: "a" })] }];
    await type("write a");
    await terminal.until("done · 2 steps");
    await terminal.type("and more");
    await terminal.press("Escape");
    await terminal.until("Esc again clears");
    // Another key came between.
    await terminal.type("!");
    await terminal.press("Escape");
    await terminal.until("Esc again clears");
    await terminal.press("Escape");
    await terminal.gone(/and more!/);
    await terminal.press("Up");
    await terminal.until("and more!");
    await terminal.press("Escape");
    await terminal.press("Escape");
    await terminal.gone(/and more!/);
    await terminal.press("Escape");
    await terminal.until("Esc again rewinds");
    await terminal.press("Escape");
    await terminal.until(/Back to before which step\?[\s\S]*step 1 +write a/);
    await type("write a");
    await terminal.until("What goes back?");
    await terminal.press("Enter");
    await terminal.until("Take it back: /rewind undo");
    assert.ok(!existsSync(join(place.workspace, "a.txt")));
    await type(" b");
    await terminal.until(/write a b[\s\S]*done · 1 step/);
    assert.equal(said().at(-1), "write a b");
  });

  it("what a chat begins with is heard as if it was typed", async () => {
    place.put(".agents/commands/greet.md", "---\ndescription: greets\n---\nSay hello to $1.\n");
    await open(["/greet Ada"]);
    await terminal.until("done · 1 step");
    assert.deepEqual(said(), ["Say hello to Ada."]);
    const long = `---\ndescription: ${"long ".repeat(60)}\nargument-hint: ${"x".repeat(90)}\n---\nNo.\n`;
    place.put(".agents/commands/wordy.md", long);
    await type("/help");
    await terminal.until(/ {2}\/greet +greets/);
    await terminal.until(/ {2}\/wordy x+… {2}long long [\s\S]*\/init \[WORDS\]/);
  });
});
