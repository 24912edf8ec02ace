/** Providers with an address per customer: addresses, bearer tokens, and each model's wire. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { failure, isFailure } from "@lathe/protocol";
import { startWireServer, streamed, type WireAnswer } from "@lathe/testkit";
import { createModels } from "./models.ts";
import type { ProviderOptions } from "./place-model.ts";
import { answer, plain, secret } from "./wires/wire-bench.test.ts";

type Script = readonly WireAnswer[];

async function asked(
  id: string,
  set: ProviderOptions,
  { script = [{ parts: answer }], path = "" }: { readonly script?: Script; readonly path?: string } = {},
) {
  const server = await startWireServer(script);
  const [provider = ""] = id.split("/");
  const models = createModels({ providers: { [provider]: { baseUrl: `${server.url}${path}`, ...set } } });
  const model = await models.open(id);
  assert.ok(!isFailure(model), isFailure(model) ? model.text : "");
  const last = (await streamed(model)).at(-1);
  await server.close();
  models.close();
  return { last, records: server.records, info: model.info };
}

const keyHeaders = ["authorization", "x-api-key", "x-goog-api-key", "api-key"] as const;

describe("clouds", () => {
  for (const [id, base, path] of [
    ["azure/gpt-6-sol", "/openai/v1", "/openai/v1/responses"],
    ["bedrock/anthropic.claude-sonnet-5-5", "", "/anthropic/v1/messages"],
    ["bedrock/openai.gpt-6-sol", "", "/v1/responses"],
    ["bedrock/openai.gpt-oss-120b", "", "/v1/chat/completions"],
    ["bedrock/qwen.qwen3-coder", "", "/v1/chat/completions"],
    ["vertex/gemini-3.8-flash", "/v1/projects/p/locations/global/publishers/google", undefined],
  ] as const) {
    it(`${id}: its wire, its path, and the key only as a bearer token`, async () => {
      const { last, records } = await asked(id, { apiKey: secret }, { path: base });
      assert.ok(last?.type === "finished", JSON.stringify(last));
      assert.deepEqual(last.parts.map(plain), answer);
      const gemini = `${base}/models/gemini-3.8-flash:streamGenerateContent`;
      assert.equal(records[0]?.path.split("?")[0], path ?? gemini);
      const keys = keyHeaders.flatMap((name) => records[0]?.headers[name] ?? []);
      assert.deepEqual(keys, [`Bearer ${secret}`]);
    });
  }

  it("reports which variables are missing", async () => {
    for (const [id, variable] of [
      ["azure/my-deployment", "AZURE_RESOURCE_NAME"],
      ["bedrock/anthropic.claude-sonnet-5-5", "AWS_REGION"],
      ["vertex/gemini-3.8-flash", "GOOGLE_CLOUD_PROJECT"],
    ] as const) {
      const model = await createModels({}).open(id);
      assert.ok(isFailure(model));
      assert.equal(model.code, "config-invalid");
      assert.match(model.text, new RegExp(`Set ${variable}`));
    }
    const unkeyed = await createModels({
      providers: { azure: { baseUrl: "https://me.openai.azure.com/openai/v1" } },
    }).open("azure/x");
    assert.ok(isFailure(unkeyed));
    assert.match(unkeyed.text, /Set AZURE_OPENAI_API_KEY or AZURE_API_KEY/);
  });

  it("knows a maker's model at another provider, but not its price there", async () => {
    const models = createModels({});
    const maker = models.info("anthropic/claude-sonnet-5-5");
    for (const id of [
      "bedrock/anthropic.claude-sonnet-5-5",
      "openrouter/anthropic/claude-sonnet-5.5",
      "vercel/anthropic/claude-sonnet-5.5",
    ]) {
      const { window, maxOutput, price, images } = models.info(id);
      assert.deepEqual({ window, maxOutput, images, price }, { ...pick(maker), price: undefined }, id);
    }
    assert.equal(models.info("azure/my-deployment").window, 128_000);
  });
});

function pick({ window, maxOutput, images }: { window: number; maxOutput: number; images?: boolean }) {
  return { window, maxOutput, images };
}

describe("short-lived tokens", () => {
  it("requests another token once if the server refuses one", async () => {
    const given: (string | undefined)[] = [];
    const tokens: ProviderOptions["tokens"] = async (refused) => {
      given.push(refused);
      return refused === undefined ? "token-old" : "token-new";
    };
    const script: Script = [{ fault: { type: "status", status: 401 } }, { parts: answer }];
    const { last, records } = await asked("vertex/gemini-3.8-flash", { tokens }, { script });
    assert.ok(last?.type === "finished", JSON.stringify(last));
    assert.deepEqual(given, [undefined, "token-old"]);
    assert.deepEqual(
      records.map(({ headers }) => headers.authorization),
      ["Bearer token-old", "Bearer token-new"],
    );
  });

  it("gives up if the next token is the same, and shows neither", async () => {
    const status = { fault: { type: "status", status: 401, message: "token-only is void" } } as const;
    const { last, records } = await asked(
      "azure/x",
      { tokens: async () => "token-only" },
      { script: [status, status] },
    );
    assert.ok(last?.type === "failed");
    assert.equal(last.failure.code, "unauthorized");
    assert.equal(records.length, 1);
    assert.doesNotMatch(JSON.stringify(last), /token-only/);
  });

  it("passes on why there is no token", async () => {
    const tokens: ProviderOptions["tokens"] = async () => failure("unauthorized", "log in with gcloud first");
    const { last, records } = await asked("vertex/gemini-3.8-flash", { tokens });
    assert.ok(last?.type === "failed");
    assert.equal(last.failure.code, "unauthorized");
    assert.match(last.failure.text, /log in with gcloud first/);
    assert.equal(records.length, 0);
  });
});
