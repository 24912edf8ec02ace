/** What a person types and says while something else goes on is kept, and comes where it was meant to go. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { type AssistantPart, noUsage } from "@lathe/protocol";
import { startWireServer, type WireAnswer, type WireServer } from "@lathe/testkit";
import { makePlace, type Place, wireEnv } from "./lathe.ts";
import { noTmux, openTmux, type Tmux } from "./tmux.ts";

const size = { columns: 100, rows: 30 };

function runs(command: string): WireAnswer {
  const call: AssistantPart = {
    ...{ type: "tool-call", id: `c${command.length}`, tool: "shell" },
    input: JSON.stringify({ command }),
  };
  return { parts: [call], usage: noUsage };
}

describe("typed while something else goes on", { skip: noTmux() }, () => {
  let place: Place;
  let server: WireServer;
  let terminal: Tmux;
  let answers: WireAnswer[] = [];

  beforeEach(async () => {
    place = makePlace();
    server = await startWireServer(() => answers.shift() ?? { parts: [{ type: "text", text: "Well." }] });
  });
  afterEach(async () => {
    await terminal.close();
    await server.close();
    place.remove();
  });

  const open = async (...args: readonly string[]): Promise<void> => {
    terminal = await openTmux(place, ["--no-sandbox", ...args], { size, env: wireEnv(server.url) });
  };
  const say = async (text: string): Promise<void> => {
    await terminal.type(text);
    await terminal.press("Enter");
  };

  it("a long paste waits, whole, until a question is answered", async () => {
    answers = [runs("sleep 1; touch first"), runs("touch second")];
    await open("--permission-mode", "ask", "begin");
    await terminal.until("Enter answers");
    // Allowed, it runs for a while.
    await terminal.press("Enter");
    await terminal.until("Esc interrupts");
    await terminal.type("look at this: ");
    await terminal.paste(Array.from({ length: 20 }, (_, at) => `pasted line ${at}`).join("\n"));
    await terminal.until("[paste #1 +20 lines]");
    await terminal.until(/touch second[\s\S]*Enter answers/);
    await terminal.gone(/\[paste #1/);
    await terminal.press("Enter");
    await terminal.until("[paste #1 +20 lines]");
    await terminal.until("done · 3 steps");
    await terminal.press("Enter");
    await terminal.until(/pasted line 19[\s\S]*done · 1 step/);
    assert.match(
      server.records.at(-1)?.text ?? "",
      /look at this: pasted line 0\\npasted line 1\\n.*pasted line 19"/,
    );
  });

  it("words said while a command of one's own runs are heard after it", async () => {
    await open();
    await terminal.until(/claude-sonnet-5-5 · \w+/);
    await say("!sleep 1; echo it is $((40 + 2))");
    await terminal.until(/! +sleep 1/);
    await say("what does that mean?");
    await terminal.until("waits to be heard: what does that mean?");
    await terminal.until(/it is 42[\s\S]*Well\.[\s\S]*done · 1 step/);
    assert.match(server.records[0]?.text ?? "", /it is 42.*what does that mean\?/);
  });

  it("a session that is taken up again has the permissions it had, and nothing moves until it goes on", async () => {
    await open("--permission-mode", "plan", "begin");
    await terminal.until("done · 1 step");
    answers = [
      {
        parts: [{ type: "text", text: "slow ".repeat(400) }],
        chunks: "event",
        fault: { type: "slow", ms: 200 },
      },
    ];
    await say("go on");
    await terminal.until("slow slow");
    const pid = await terminal.pid();
    process.kill(pid, "SIGKILL");
    await terminal.until("exit 137");
    await terminal.close();
    answers = [runs("touch made")];
    await open("--continue");
    const resumed = await terminal.until(/Permissions: plan, as it had before\. Its last turn was cut off/);
    assert.doesNotMatch(resumed, /is thinking/);
    await terminal.until(/ · plan · /);
    await say("make it");
    await terminal.until(/touch made[\s\S]*done/);
    assert.equal(existsSync(join(place.workspace, "made")), false);
  });
});
