/** What a hook is taken to have said, however it printed it. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { readHookOutput } from "./hook-output.ts";

const block = { decision: "block", reason: "no" };
const json = JSON.stringify(block);

it("words are words", () => {
  assert.deepEqual(readHookOutput("today is {monday}\n", false), { json: {}, text: "today is {monday}" });
  assert.deepEqual(readHookOutput("", false), { json: {}, text: "" });
});

it("JSON is found in lines of its own, wherever they stand", () => {
  const around = [
    json,
    `\n  ${JSON.stringify(block, null, 2)}\n\n`,
    `checking\nstill\n${json}\n`,
    `${json}\r\ndone\r\n`,
    `a\n${JSON.stringify(block, null, 2)}\nb\nc`,
  ];
  for (const out of around) assert.deepEqual(readHookOutput(out, false), { json: block, text: "" }, out);
});

it("what looks like JSON and is none, or more than one, or was cut, is not read as if it said nothing", () => {
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
