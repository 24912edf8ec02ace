/** Failures: how long to wait, what is never shown, and the codes that no server of ours can provoke. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Origin, providerFailure } from "./provider-failure.ts";
import { redact } from "./redact.ts";
import { retryAfterMs } from "./retry-after.ts";

const now = Date.parse("2026-11-20T12:00:00Z");
const origin: Origin = {
  id: "anthropic/m",
  provider: "anthropic",
  baseUrl: "https://api.anthropic.com",
  keyVariable: "ANTHROPIC_API_KEY",
  near: ["anthropic/n"],
  secrets: ["hunter2-hunter2"],
};

describe("retryAfterMs", () => {
  for (const [headers, ms] of [
    [{ "retry-after-ms": "1500", "retry-after": "9" }, 1500],
    [{ "retry-after": "2" }, 2000],
    [{ "retry-after": "0.5" }, 500],
    [{ "retry-after": "Fri, 20 Nov 2026 12:00:30 GMT" }, 30_000],
    [{ "x-ratelimit-reset-requests": "1m3s", "x-ratelimit-reset-tokens": "6ms" }, 6],
    [{ "x-ratelimit-reset": String(now + 4000) }, 4000],
    [{ "x-ratelimit-reset": String(now / 1000 + 5) }, 5000],
    [{ "anthropic-ratelimit-tokens-reset": "2026-11-20T12:00:07Z" }, 7000],
    [{ "retry-after": "soon" }, undefined],
    [{}, undefined],
  ] as const) {
    it(`${JSON.stringify(headers)} -> ${ms}`, () => assert.equal(retryAfterMs(headers, now), ms));
  }
});

describe("providerFailure", () => {
  const of = (raised: unknown) => providerFailure(raised, origin, now);

  for (const [code, cause] of [
    ["unreachable", "ENOTFOUND"],
    ["unreachable", "ECONNREFUSED"],
    ["unreachable", "SELF_SIGNED_CERT_IN_CHAIN"],
    ["unreachable", "ERR_TLS_CERT_ALTNAME_INVALID"],
    ["stream-broken", "ECONNRESET"],
  ] as const) {
    it(`${cause} is ${code}`, () => {
      const inner = Object.assign(new Error("connect"), { code: cause });
      assert.equal(of(new Error("Cannot connect to API", { cause: inner })).code, code);
      assert.equal(of(Object.assign(new AggregateError([inner]), { message: "all failed" })).code, code);
    });
  }
  it("tells an empty account from a rate limit", () => {
    const body = '{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}';
    assert.equal(of({ statusCode: 429, responseBody: body }).retry, "other-model");
    assert.equal(of({ statusCode: 429, responseBody: "{}" }).retry, "same");
  });
  it("knows refused content", () => {
    const message = "The response was filtered due to the prompt triggering the content management policy";
    assert.equal(of({ statusCode: 400, message }).code, "content-refused");
  });
  it("reads Gemini's list and plain text", () => {
    assert.match(
      of({ statusCode: 400, responseBody: '[{"error":{"message":"bad field"}}]' }).text,
      /bad field/,
    );
    assert.match(of({ statusCode: 500, responseBody: "upstream died" }).text, /upstream died/);
  });
  it("names the key's variable and the near models", () => {
    assert.match(of({ statusCode: 401 }).text, /ANTHROPIC_API_KEY/);
    assert.match(of({ statusCode: 404 }).text, /anthropic\/n/);
  });
  it("survives anything thrown", () => {
    for (const thrown of [undefined, null, "text", 7, {}, [], new Error("x")])
      assert.equal(of(thrown).code, "stream-broken");
  });
  it("redacts secrets and what looks like one", () => {
    const failed = of({ statusCode: 401, message: "bad key hunter2-hunter2, or sk-ant-REDACTED" });
    assert.doesNotMatch(JSON.stringify(failed), /hunter2|abcdefghijkl/);
    assert.equal(redact("Authorization: Bearer abc.def-ghi_jklmnop", []), "Authorization: [redacted]");
    assert.equal(redact("nothing here", ["a"]), "nothing here");
  });
});
