/** Tests text from outside that contains terminal or direction controls: no command prints it unchanged. */
import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import { makePlace } from "./in-process.ts";
import type { Place } from "./lathe.ts";

const hostile = "a\u001b]0;t\u0007b\u202ec\u009bd";
const driving = ["\u001b", "\u0007", "\u009b", "\u202e"];

describe("hostile text", () => {
  let place: Place;
  beforeEach(() => {
    place = makePlace();
  });
  afterEach(() => place.remove());

  const commands: Readonly<Record<string, readonly string[]>> = {
    "what a tool read": ["tool", "read", "--json", JSON.stringify({ path: "a.txt" })],
    "the name of a file that a tool lists": ["tool", "list", "--json", "{}"],
    "what a tool is asked for": ["tool", hostile, "--json", "{}"],
    "a command that policy is asked of": ["policy", "check", `git ${hostile}`],
    "an MCP server that is added": ["mcp", "add", "x", "--", `run ${hostile}`],
    "the name of a session": ["sessions", "show", hostile],
    "the name of a model": ["run", "--model", hostile, "hello"],
  };
  for (const [name, args] of Object.entries(commands)) {
    it(`is shown without terminal controls: ${name}`, async () => {
      place.put("a.txt", `needle ${hostile}\n`);
      place.put(`n${hostile}`.replaceAll("/", ""), "x");
      const { out, err } = await place.run(args);
      assert.notEqual(out + err, "");
      assert.deepEqual(
        driving.filter((code) => (out + err).includes(code)),
        [],
      );
    });
  }
});
