/** The session of a judging model. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { beginAttempt } from "@lathe/attempts";
import { isFailure } from "@lathe/protocol";
import { startWireServer } from "@lathe/testkit";
import { localHost } from "../local-host.ts";
import { makeBench, say } from "../session-bench.test.ts";

it("uses the session's model to judge, even if another model makes plans", async (test) => {
  const bench = makeBench("judge");
  const server = await startWireServer(() => say('{"best": 1, "why": "it is right"}'));
  test.after(async () => {
    await server.close();
    bench.remove();
  });
  const options = bench.options(server.url, { models: ["acme/one"], planner: "acme/dear" });
  const origin = { parent: "p", root: "p", agent: "judge" };
  const judge = { type: "attempt", id: "j", origin, words: { text: "Which?" }, isJudge: true } as const;
  const session = await beginAttempt(localHost(options), options, { order: judge, tell: () => undefined });
  assert.ok(!isFailure(session));
  const ended = await session.run();
  await session.close();
  assert.ok(!isFailure(ended));
  assert.deepEqual([ended.model, ended.settings.planner], ["acme/one", undefined]);
});
