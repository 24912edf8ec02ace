import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { isFailure } from "@lathe/protocol";
import { createTokenCommand } from "./token-command.ts";

const folder = mkdtempSync(join(tmpdir(), "lathe-token-"));
after(() => rmSync(folder, { recursive: true }));
let made = 0;

/** A program that runs `body`; each run adds a line to `runs`. */
function program(body: string): { readonly command: readonly string[]; readonly runs: () => number } {
  const file = join(folder, `token-${++made}.mjs`);
  const log = `${file}.log`;
  writeFileSync(log, "");
  const count = `import { appendFileSync, readFileSync } from "node:fs";
    appendFileSync(${JSON.stringify(log)}, "x"); const run = readFileSync(${JSON.stringify(log)}).length;`;
  writeFileSync(file, `${count}\n${body}`);
  return { command: [process.execPath, file], runs: () => readFileSync(log).length };
}

describe("createTokenCommand", () => {
  it("caches a token until it is refused, and runs once for all waiting callers", async () => {
    const { command, runs } = program("console.log('token-' + run)");
    const tokens = createTokenCommand(command, process.env);
    assert.deepEqual(await Promise.all([tokens(), tokens(), tokens()]), ["token-1", "token-1", "token-1"]);
    assert.equal(await tokens(), "token-1");
    assert.equal(await tokens("token-1"), "token-2");
    assert.equal(await tokens("token-1"), "token-2");
    assert.equal(runs(), 2);
  });

  it("explains why there is none, and never shows the output", async () => {
    const fails = program(
      "console.log('half-a-secret'); console.error('not logged in'); process.exitCode = 1",
    );
    const wordy = program("console.log('Please log in first')");
    const silent = program("");
    for (const [{ command }, why] of [
      [fails, /not logged in/],
      [wordy, /printed no token/],
      [silent, /printed no token/],
      [{ command: [join(folder, "not-there")] }, /it failed/],
    ] as const) {
      const token = await createTokenCommand(command, process.env)();
      assert.ok(isFailure(token));
      assert.equal(token.code, "unauthorized");
      assert.match(token.text, why);
      assert.doesNotMatch(JSON.stringify(token), /half-a-secret|Please/);
    }
  });

  it("runs again after a failure", async () => {
    const { command } = program("if (run === 1) process.exit(1); console.log('later')");
    const tokens = createTokenCommand(command, process.env);
    assert.ok(isFailure(await tokens()));
    assert.equal(await tokens(), "later");
  });
});
