/** Tests `/best-of` in a wide terminal, and with the conversation's own model. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { prepare, say, takesOver, task } from "./attempts-chat.ts";
import { noTmux, type Size } from "./tmux.ts";

describe("/best-of", { skip: noTmux() }, () => {
  const size: Size = { columns: 200, rows: 50 };

  it("compares, asks, applies, continues, shows and rewinds, at 200x50", (t) => takesOver(t, size));

  it("continues with the model that the conversation had", async (t) => {
    const opened = await prepare(t, size);
    const terminal = await opened.open("--model", "anthropic/claude-haiku-4-5");
    await terminal.until(/claude-haiku-4-5 · auto/);
    await say(terminal, `/best-of 2 ${task}`);
    await terminal.until(/Take attempt \d over\?/);
    await terminal.press("Enter");
    await terminal.until("Its changes are in");
    await say(terminal, "what was done?");
    await terminal.until(/done · 1 step/);
    const asked = opened.server.records.map(({ body }) => body.model);
    assert.deepEqual([...new Set(asked)], ["claude-haiku-4-5"]);
  });
});
