/** Tests a model that a person chooses during a session. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { failure, fold } from "@lathe/protocol";
import { openBench, reclaim, roles, run, types, unwrap } from "../bench.test.ts";

describe("another model that a person chose", () => {
  it("takes over once the open calls have their results, and is told so", async () => {
    const bench = openBench({
      tools: [
        {
          name: "switch",
          run: async () => {
            await bench.store.offer("s1", { type: "model", model: "other/model" });
            return { type: "ok", text: "" };
          },
        },
      ],
      script: [{ calls: [{ tool: "switch", input: {} }] }, { text: "ok" }],
    });
    const session = await run(bench);
    assert.equal(session.model, "other/model");
    assert.deepEqual(session.settings.models, ["other/model", "scripted/model"]);
    assert.equal(roles(session), "user assistant tool user assistant");
    const names = types(bench);
    assert.ok(names.indexOf("model.switched") > names.indexOf("tool.completed"));
  });

  it("does not replace the failover model until the person chooses again", async () => {
    const down = failure("server-error", "down", { retry: "other-model" });
    const bench = openBench({
      settings: { models: ["a/one", "b/two"] },
      script: [{ failure: down }, { text: "ok" }],
    });
    assert.equal((await run(bench)).model, "b/two");
    const log = await reclaim(bench);
    const data = { settings: fold(log.events).settings, limits: { steps: 3 } };
    unwrap(await log.append([{ type: "session.configured", data }], { at: 0, durable: false }));
    const after = fold(unwrap(await bench.store.read("s1")));
    assert.deepEqual([after.model, after.chosen], ["b/two", undefined]);
  });
});
