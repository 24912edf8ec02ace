/** Commands in the background, as the person at the terminal sees and stops them. */
import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import { startWireServer, type WireAnswer, type WireServer } from "@lathe/testkit";
import { call, say } from "./answer-parts.ts";
import { makePlace, type Place, wireEnv } from "./lathe.ts";
import { noTmux, openTmux, type Tmux } from "./tmux.ts";

const size = { columns: 100, rows: 40 };

describe("commands in the background", { skip: noTmux() }, () => {
  let place: Place;
  let server: WireServer;
  let terminal: Tmux;
  let answers: WireAnswer[] = [];
  beforeEach(async () => {
    place = makePlace();
    answers = [];
    server = await startWireServer(() => answers.shift() ?? { parts: [say("Well.")] });
    terminal = await openTmux(place, ["--no-sandbox", "--permission-mode", "auto"], {
      size,
      env: wireEnv(server.url),
    });
    await terminal.until(/claude-sonnet-5-5 · auto/);
  });
  afterEach(async () => {
    await terminal.close();
    await server.close();
    place.remove();
  });
  const type = async (text: string): Promise<void> => {
    await terminal.type(text);
    await terminal.press("Enter");
  };

  it("are the person's own with & behind them, and outlive the beginning of the conversation", async () => {
    await type("/processes");
    await terminal.until("Nothing was left in the background.");
    await type("!echo it began; sleep 3000 &");
    await terminal.until(/! +echo it began; sleep 3000 & +running as p1/);
    await type("hello");
    await terminal.until("done · 1 step");
    await terminal.until("1 in the background");
    await type("/processes nope");
    await terminal.until("there is no process nope in the background; there are !p1");
    await type("/processes p1");
    await terminal.until(/\[running\]\s+it began/);
    await type("/processes");
    await terminal.until(/1\. !p1 echo it began; sleep 3000 +running for/);
    await terminal.press("Enter");
    await terminal.until(/1\. See what it printed/);
    await terminal.press("Enter");
    await terminal.until(/!p1 echo it began; sleep 3000 {2}\[running\]\s+it began/);
    await terminal.press("C-d");
    await terminal.until("stopped: !p1 echo it began; sleep 3000");
    await terminal.until("exit 0");
  });

  it("are the agent's, which is told that they were stopped", async () => {
    answers = [{ parts: [call("s", "shell", { command: "sleep 3000", background: true })] }];
    await type("start it");
    await terminal.until(/done · 2 steps/);
    await type("!sleep 2000 &");
    await terminal.until("2 in the background");
    await type("/processes");
    await terminal.until(/1\. p1 sleep 3000[\s\S]*2\. p2 sleep 2000/);
    await terminal.press("Enter");
    await terminal.until("Stop it");
    await type("stop");
    await terminal.until("p1 sleep 3000 was stopped.");
    await type("/processes stop p2");
    await terminal.until("p2 sleep 2000 was stopped.");
    await terminal.gone(/\d in the background ·/);
    await type("/processes stop p1");
    await terminal.until("p1 has ended already: [stopped by the user]");
    answers = [{ parts: [call("l", "process", { action: "list" })] }];
    await type("look");
    await terminal.until(/look[\s\S]*done · 2 steps/);
    const told = JSON.stringify(server.records.at(-1)?.request.messages);
    assert.match(told, /p1 \[stopped by the user\] sleep 3000/);
  });

  it("end with the session that is left, and the status line tells when one ends by itself", async () => {
    await type("hello");
    await terminal.until("done · 1 step");
    await type("!sleep 1 &");
    await terminal.until("1 in the background");
    await terminal.gone(/1 in the background/);
    await type("!sleep 3000 &");
    await terminal.until("1 in the background");
    await type("/clear");
    await terminal.until("stopped: p2 sleep 3000");
  });
});
