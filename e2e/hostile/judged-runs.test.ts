/**
 * Tests that the judged text is what runs: a verdict never depends on a text that a command replaces first.
 */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { HostilePlace } from "./hostile-place.ts";
import { assertNotAllowed, openJudgedPlace, push } from "./judged-rows.ts";

/** One command of each kind; the long tests and the policy fixtures cover the others. */
const commands: readonly string[] = [
  "cp evil.txt s.sh && bash s.sh",
  "cp evil.json package.json && npm test",
  "BASH_ENV=go.sh bash -c :",
  "make -f evil.mk",
];

describe("a text that a command replaces before it runs it", () => {
  let at: HostilePlace;
  before(async () => {
    at = await openJudgedPlace();
  });
  after(() => at.close());

  for (const command of commands)
    it(`is not allowed without asking: ${command}`, () => assertNotAllowed(at, command));

  it("includes an alias that an included file redefines after the first use", async () => {
    for (const name of ["team", "own"]) at.git("config", "--add", "include.path", `../${name}.gitconfig`);
    at.put("team.gitconfig", "[alias]\n\tzz = status\n");
    at.answers(
      ["shell", { command: "git zz" }],
      [
        "write",
        { path: "own.gitconfig", content: `[alias]\n\tzz = "!${at.canary("alias")} now; ${push}"\n` },
      ],
      ["shell", { command: "git zz" }],
    );
    await at.hello(["--no-sandbox", "--allow", "git status*"]);
    assert.deepEqual(at.ran(), []);
  });
});
