/** How a hook's output is read, in whatever form it was printed. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { readHookOutput } from "./hook-output.ts";

const block = { decision: "block", reason: "no" };
const json = JSON.stringify(block);

it("plain text is text", () => {
  assert.deepEqual(readHookOutput("today is {monday}\n", false), { json: {}, text: "today is {monday}" });
  assert.deepEqual(readHookOutput("", false), { json: {}, text: "" });
});

it("JSON is found on separate lines, wherever they are", () => {
  const around = [
    json,
    `\n  ${JSON.stringify(block, null, 2)}\n\n`,
    `checking\nstill\n${json}\n`,
    `${json}\r\ndone\r\n`,
    `a\n${JSON.stringify(block, null, 2)}\nb\nc`,
  ];
  for (const out of around) assert.deepEqual(readHookOutput(out, false), { json: block, text: "" }, out);
});

it("broken, repeated or cut JSON is not read as if the hook printed nothing", () => {
  const unclear = [
    `{"decision":"block",}`,
    `checking\n{"decision":"block"`,
    `{"log":1}\n${json}`,
    "{not json",
  ];
  for (const out of unclear)
    assert.match(readHookOutput(out, false).unread ?? "", /^its JSON cannot be read/, out);
  assert.match(readHookOutput(json, true).unread ?? "", /too long/);
});
