import assert from "node:assert/strict";
import { it } from "node:test";
import { isFailure, type ModelRequest } from "@lathe/protocol";
import { createScriptedModel } from "@lathe/testkit";
import { afterFirstRequest } from "./after-first-request.ts";

const request: ModelRequest = {
  system: "",
  tools: [],
  messages: [],
  cacheMarks: [],
  maxOutputTokens: 100,
  cacheKey: "k",
};

it("starts the work once, after the first attempt has started", async () => {
  const { promise: worked, resolve } = Promise.withResolvers<void>();
  let works = 0;
  const inner = createScriptedModel([{ text: "one" }, { text: "two" }]);
  const models = afterFirstRequest(inner.models, async () => {
    works++;
    resolve();
  });
  const model = await models.open("x/y");
  assert.ok(!isFailure(model));
  assert.equal(works, 0);
  for (let attempt = 0; attempt < 2; attempt++) {
    for await (const part of model.stream(request, new AbortController().signal))
      assert.notEqual(part.type, "failed");
  }
  const alive = setInterval(() => undefined, 1000);
  await worked;
  clearInterval(alive);
  assert.equal(works, 1);
});
