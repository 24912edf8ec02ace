/**
 * Tests `lathe report fix ALERT`: from the logs of failed sessions to an agent that investigates, and a
 * pending change.
 */
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import type { AssistantPart } from "@lathe/protocol";
import { startWireServer, type WireAnswer, type WireServer } from "@lathe/testkit";
import { makePlace } from "./in-process.ts";
import { type Place, wireEnv } from "./lathe.ts";

/** The reason why this machine cannot test forks; undefined if it can. */
async function noForks(): Promise<string | undefined> {
  const place = makePlace();
  const { code, err } = await place.run(["sandbox", "exec", "--fork", "--", "true"]);
  place.remove();
  return code === 0 ? undefined : err;
}

const skip = await noForks();
const tokenOfGithub = ["ghp", "aB3dE5gH7jK9mN1pQ3rS5tU7vW9xY1zA3bC5"].join("_");
const ownKey = ["sk", "planted", "7f3b9c1d5e"].join("-");

function calls(tool: string, inputs: readonly object[]): WireAnswer {
  return {
    parts: inputs.map((input, i): AssistantPart => {
      return { type: "tool-call", id: `c${i}-${tool}`, tool, input: JSON.stringify(input) };
    }),
  };
}

const done: WireAnswer = { parts: [{ type: "text", text: "Done." }] };
const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, i) => i);
/** File names that contain keys. */
const wrongName = (n: number): string => `lost/${n % 2 === 0 ? tokenOfGithub : ownKey}-${n}.txt`;

/** The model's answer to each kind of request. */
function answerTo(text: string, isFirst: boolean): WireAnswer {
  if (!isFirst) return done;
  if (text.includes("read them all"))
    return calls(
      "read",
      numbers(110).map((n) => ({ path: `files/${n}.txt` })),
    );
  if (text.includes("read what is gone"))
    return calls(
      "read",
      numbers(30).map((n) => ({ path: wrongName(n) })),
    );
  return calls("write", [{ path: "lost.test.js", content: "// A file that is gone is named.\n" }]);
}

describe("lathe report fix", { ...(skip !== undefined && { skip }) }, () => {
  let place: Place;
  let server: WireServer;
  before(async () => {
    server = await startWireServer(({ text, request }) =>
      answerTo(text, !request.messages.some(({ role }) => role === "tool")),
    );
    place = makePlace({ ...wireEnv(server.url), ANTHROPIC_API_KEY: ownKey });
    for (const n of numbers(110)) place.put(`files/${n}.txt`, `${n}\n`);
    for (const words of ["read them all", "read what is gone"]) {
      const { code, err } = await place.run(["run", "--no-sandbox", words]);
      assert.equal(code, 0, err);
    }
  });
  after(async () => {
    place.remove();
    await server.close();
  });

  it("lists the alerts if it does not know the name", async () => {
    const { alerts } = JSON.parse((await place.run(["report", "--json"])).out);
    assert.equal(alerts.length, 1);
    const { code, err } = await place.run(["report", "fix", "nothing"]);
    assert.equal(code, 2);
    assert.ok(err.includes(alerts[0].key), err);
  });

  it("gives an agent the examples without keys, in a fork, and lists its changes", async () => {
    const [alert] = JSON.parse((await place.run(["report", "--json"])).out).alerts;
    assert.deepEqual([alert.kind, alert.tool, alert.code], ["jump", "read", "not-found"]);
    const asked = server.records.length;
    const { code, err } = await place.run(["report", "fix", alert.key]);
    assert.equal(code, 0, err);
    const prompts = server.records.slice(asked).map(({ text }) => text);
    assert.ok(prompts.length >= 2);
    assert.match(
      prompts[0] ?? "",
      /tool `read`.*fails more often than it did.*mostly the failure is `not-found`/,
    );
    assert.match(prompts[0] ?? "", /arguments: .*lost\//);
    for (const prompt of prompts) {
      for (const secret of [tokenOfGithub, ownKey]) assert.ok(!prompt.includes(secret), prompt);
    }
    assert.match(err, /1 added\n {2}A lost\.test\.js\n/);
    assert.equal(existsSync(join(place.workspace, "lost.test.js")), false);
    const [fork] = JSON.parse((await place.run(["fork", "list", "--json"])).out);
    assert.equal((await place.run(["fork", "keep", fork.id])).code, 0);
    assert.match(readFileSync(join(place.workspace, "lost.test.js"), "utf8"), /is named/);
  });
});
