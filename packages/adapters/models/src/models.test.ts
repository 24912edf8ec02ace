/** The gateway's own decisions: provider, wire, model data, and its errors. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Failure, isFailure, type Model } from "@lathe/protocol";
import { conformanceRequest, startWireServer, streamed } from "@lathe/testkit";
import { infoOf, nearIds } from "./catalogue/find-entry.ts";
import { snapshot } from "./catalogue/snapshot.ts";
import { createModels, type ModelsOptions } from "./models.ts";

const keys = {
  anthropic: { apiKey: "k1" },
  openai: { apiKey: "k2" },
  google: { apiKey: "k3" },
  zai: { apiKey: "k4" },
};

async function open(id: string, options: ModelsOptions = { providers: keys }): Promise<Model> {
  const model = await createModels(options).open(id);
  assert.ok(!isFailure(model), isFailure(model) ? model.text : "");
  return model;
}

async function refused(id: string, options: ModelsOptions = {}): Promise<Failure> {
  const model = await createModels(options).open(id);
  assert.ok(isFailure(model));
  return model;
}

describe("model ids", () => {
  for (const [written, id] of [
    ["anthropic/claude-opus-5-5", "anthropic/claude-opus-5-5"],
    ["anthropic/claude-opus-5.5", "anthropic/claude-opus-5-5"],
    ["claude-sonnet-5.5", "anthropic/claude-sonnet-5-5"],
    ["claude-something-new", "anthropic/claude-something-new"],
    ["gpt-6.1-sol", "openai/gpt-6.1-sol"],
    ["o3-mini", "openai/o3-mini"],
    ["gemini-3.8-flash", "google/gemini-3.8-flash"],
    ["glm-5.3", "zai/glm-5.3"],
    ["openai/some/nested:id", "openai/some/nested:id"],
  ] as const) {
    it(`reads ${written}`, async () => assert.equal((await open(written)).info.id, id));
  }
  for (const written of ["nobody/knows", "mystery", "constructor", "__proto__", "toString/x", "", "/"]) {
    it(`explains what to do about "${written}"`, async () => {
      const failed = await refused(written, { providers: keys, builtin: {} });
      assert.equal(failed.code, "model-unknown");
      assert.match(
        failed.text,
        /provider\/model|The providers are .*ollama.* openai\/\S+ with OPENAI_BASE_URL/,
      );
    });
  }
  it("names similar ids", async () => {
    assert.match((await refused("sonnet-5.5")).text, /anthropic\/claude-sonnet-5-5/);
    assert.equal(nearIds("anthropic/claude-opus-5.6", snapshot)[0], "anthropic/claude-opus-5-5");
  });
  it("passes the id unchanged to the user's own server", async () => {
    const server = await startWireServer([{}]);
    const providers = { anthropic: { baseUrl: server.url, apiKey: "k" } };
    await streamed(await open("anthropic/claude-opus-5.5", { providers }));
    assert.equal(server.records[0]?.body.model, "claude-opus-5.5");
    await server.close();
  });
});

describe("providers", () => {
  it("asks for the key by the variable's name", async () => {
    const failed = await refused("claude-opus-5-5");
    assert.equal(failed.code, "unauthorized");
    assert.match(failed.text, /ANTHROPIC_API_KEY/);
  });
  it("needs no key for the user's own base URL", async () => {
    await open("openai/local-model", { providers: { openai: { baseUrl: "http://127.0.0.1:9/v1" } } });
  });
  it("refuses an invalid base URL", async () => {
    assert.equal(
      (await refused("x/y", { providers: { x: { baseUrl: "not a url" } } })).code,
      "config-invalid",
    );
    assert.equal((await refused("x/y", { providers: { x: {} } })).code, "config-invalid");
  });
  it("uses chat completions for servers that imitate OpenAI, and responses on request", async () => {
    const server = await startWireServer(() => ({}));
    const baseUrl = `${server.url}/v1/`;
    await streamed(await open("openai/m", { providers: { openai: { baseUrl } } }));
    await streamed(await open("openai/m", { providers: { openai: { baseUrl, wire: "responses" } } }));
    await streamed(await open("mine/m", { providers: { mine: { baseUrl } } }));
    assert.deepEqual(
      server.records.map(({ path }) => path),
      ["/v1/chat/completions", "/v1/responses", "/v1/chat/completions"],
    );
    assert.equal(server.records[0]?.headers.authorization, undefined);
    await server.close();
  });
  it("sends the key, the headers and Lathe's name, and none from the packages", async () => {
    const server = await startWireServer([{}]);
    const mine = { baseUrl: server.url, apiKey: "the-key", headers: { "x-team": "blue" } };
    await streamed(await open("anthropic/m", { providers: { anthropic: mine }, userAgent: "lathe/1.2" }));
    const headers = server.records[0]?.headers ?? {};
    assert.deepEqual(
      [headers["x-api-key"], headers["x-team"], headers["user-agent"]],
      ["the-key", "blue", "lathe/1.2"],
    );
    await server.close();
  });
  it("sends a token in place of a key as a bearer", async () => {
    const server = await startWireServer([{}]);
    const providers = { anthropic: { baseUrl: server.url, authToken: "the-token" } };
    await streamed(await open("anthropic/m", { providers }));
    const headers = server.records[0]?.headers ?? {};
    assert.deepEqual([headers.authorization, headers["x-api-key"]], ["Bearer the-token", undefined]);
    await server.close();
  });
  it("resolves the host's own models, once", async () => {
    let made = 0;
    const own = await open("anthropic/claude-opus-5-5");
    const models = createModels({
      builtin: {
        "builtin/repair": async () => {
          made++;
          return own;
        },
      },
    });
    models.preload("builtin/repair");
    assert.equal(await models.open("builtin/repair"), own);
    assert.equal(made, 1);
  });
  it("turns a built-in model that does not load into a failure", async () => {
    const failed = await refused("builtin/broken", {
      builtin: { "builtin/broken": () => Promise.reject(new Error("no grammar")) },
    });
    assert.match(failed.cause ?? "", /no grammar/);
  });
});

describe("catalogue", () => {
  it("knows limits and prices", async () => {
    const { info } = await open("anthropic/claude-sonnet-5-5");
    assert.deepEqual(info.price, { input: 2, output: 10, cached: 0.2, written: 2.5 });
    assert.equal(info.window, 1_000_000);
  });
  it("gives an unknown model careful limits and no price", () => {
    assert.deepEqual(infoOf("x/y", snapshot), { id: "x/y", window: 128_000, maxOutput: 16_000 });
  });
  it("gives a dated snapshot the entry of its family", () => {
    assert.equal(infoOf("anthropic/claude-haiku-4-5-20251001", snapshot).window, 200_000);
  });
  it("lets the user add and replace entries", async () => {
    const own = { "zai/glm-5.3": { window: 1000 }, "acme/one": { price: { input: 1, output: 2 } } };
    const models = createModels({ catalogue: () => ({ own }) });
    assert.equal(models.info("glm-5.3").window, 1000);
    assert.equal(models.info("glm-5.3").maxOutput, 131_072);
    assert.deepEqual(models.info("acme/one").price, { input: 1, output: 2, cached: 1, written: 1 });
  });
  it("has each id once, and no price of 0", () => {
    assert.equal(new Set(snapshot.map(({ id }) => id)).size, snapshot.length);
    for (const { price } of snapshot) {
      const rates = price ? [price, ...(price.tiers ?? [])] : [];
      for (const { input, output, cached, written } of rates)
        assert.ok([input, output, cached, written].every((value) => value > 0));
    }
  });
});

describe("prompt caching", () => {
  const request = {
    ...conformanceRequest,
    messages: Array(6).fill(conformanceRequest.messages[0]),
    cacheMarks: [1, 3, 5],
  };

  it("marks the system and the requested last messages, never more than four", async () => {
    const server = await startWireServer(() => ({}));
    const model = await open("anthropic/m", { providers: { anthropic: { baseUrl: server.url } } });
    await streamed(model, { request });
    await streamed(model, { request: { ...request, cacheMarks: [5] } });
    const marks = server.records.map(
      ({ text }) => text.match(/"cache_control":\{"type":"ephemeral"\}/g)?.length,
    );
    assert.deepEqual(marks, [4, 3]);
    assert.ok(server.records[1]?.body.tools[0].cache_control, "the last tool has one of them");
    await server.close();
  });
  it("sends no marks to other servers", async () => {
    const server = await startWireServer([{}]);
    await streamed(await open("mine/m", { providers: { mine: { baseUrl: server.url } } }), { request });
    assert.doesNotMatch(server.records[0]?.text ?? "", /cache/);
    await server.close();
  });
  it("sets OpenAI's cache key, stores nothing there, and requests the reasoning", async () => {
    const server = await startWireServer([{}]);
    const openai = { baseUrl: server.url, wire: "responses" } as const;
    await streamed(await open("openai/gpt-6-sol", { providers: { openai } }));
    const { store, include, prompt_cache_key } = server.records[0]?.body ?? {};
    assert.deepEqual(
      [store, include, prompt_cache_key],
      [false, ["reasoning.encrypted_content"], "session-1"],
    );
    await server.close();
  });
  it("requests no reasoning if there is none, and requests it if the user says there is", async (test) => {
    const server = await startWireServer(() => ({}));
    test.after(() => server.close());
    const openai = { baseUrl: server.url, wire: "responses" } as const;
    const catalogue = () => ({ own: { "openai/mine": { reasoning: true } } });
    for (const id of ["gpt-4o", "gpt-4.1", "some-other", "o3", "mine"]) {
      await streamed(await open(`openai/${id}`, { providers: { openai }, catalogue }));
    }
    const wanted = server.records.map(({ body }) => body.include !== undefined);
    assert.deepEqual(wanted, [false, false, false, true, true]);
  });
});

describe("another provider's reasoning", () => {
  it("is dropped, and its own sent back", async () => {
    const server = await startWireServer(() => ({}));
    const model = await open("anthropic/claude-sonnet-5-5", {
      providers: { anthropic: { baseUrl: server.url } },
    });
    const signature = JSON.stringify({ anthropic: { signature: "sig" } });
    const parts = [
      { type: "reasoning", text: "theirs", provider: "openai", signature: '{"openai":{"itemId":"rs_1"}}' },
      { type: "reasoning", text: "ours", provider: "anthropic", signature },
      { type: "text", text: "so" },
    ] as const;
    const messages = [
      ...conformanceRequest.messages,
      { role: "assistant", parts } as const,
      ...conformanceRequest.messages,
    ];
    await streamed(model, { request: { ...conformanceRequest, messages } });
    assert.deepEqual(server.records[0]?.body.messages[1].content, [
      { type: "thinking", thinking: "ours", signature: "sig" },
      { type: "text", text: "so" },
    ]);
    // Without it, the API would reject every request after a compaction.
    assert.equal(server.records[0]?.body.thinking.block_binding.prefix_mismatch_behavior, "drop_block");
    await server.close();
  });
});

describe("unknown fields of a chat completion", () => {
  it("are kept for trainers", async () => {
    const { createUnknownFields } = await import("./wires/unknown-fields.ts");
    const fields = createUnknownFields();
    fields.take({
      id: "1",
      choices: [{ index: 0, delta: { content: "a", token_ids: [1] }, logprobs: { content: [1] } }],
    });
    fields.take({
      choices: [{ delta: { token_ids: [2, 3] }, logprobs: { content: [2] } }],
      prompt_token_ids: [7],
    });
    fields.take(null);
    assert.deepEqual(fields.kept(), {
      token_ids: [1, 2, 3],
      logprobs: { content: [1, 2] },
      prompt_token_ids: [7],
    });
  });
});
