import assert from "node:assert/strict";
import { it } from "node:test";
import { isFailure, type ModelPart, type ModelRequest } from "@lathe/protocol";
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

it("hands over calls only when the work is done", async () => {
  const inner = createScriptedModel([{ calls: [{ tool: "read", input: {} }] }]);
  let done = false;
  const models = afterFirstRequest(inner.models, async () => {
    await new Promise((resolve) => setTimeout(resolve, 20));
    done = true;
  });
  const model = await models.open("x/y");
  assert.ok(!isFailure(model));
  const parts: ModelPart[] = [];
  for await (const part of model.stream(request, new AbortController().signal)) {
    parts.push(part);
    if (part.type === "finished") assert.ok(done);
  }
  assert.equal(parts.at(-1)?.type, "finished");
});
