import assert from "node:assert/strict";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, it } from "node:test";
import { isFailure } from "@lathe/protocol";
import { type EmbeddingsOptions, openEmbedder } from "./embeddings-wire.ts";

type Answer = (asked: { readonly input: readonly string[] }, response: ServerResponse) => void;

const open: { close(): void }[] = [];
afterEach(() => {
  for (const one of open.splice(0)) one.close();
});

interface Served {
  readonly url: string;
  readonly requests: {
    readonly headers: IncomingMessage["headers"];
    readonly body: Record<string, unknown>;
  }[];
}

async function served(answer: Answer): Promise<Served> {
  const requests: Served["requests"] = [];
  const server: Server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const body = JSON.parse(Buffer.concat(parts).toString());
    requests.push({ headers: request.headers, body });
    answer(body, response);
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, "127.0.0.1", resolve);
  await promise;
  open.push({
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, requests };
}

async function embed(
  options: EmbeddingsOptions,
  texts: readonly string[],
  signal = new AbortController().signal,
) {
  const embedder = openEmbedder(options);
  assert.ok(!isFailure(embedder), "text" in embedder ? embedder.text : "");
  open.push(embedder);
  return embedder.embed(texts, { as: "passage", signal });
}

const json = (response: ServerResponse, status: number, value: unknown): void => {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(value));
};

it("sends the same requests as OpenAI's clients, and orders vectors like the texts", async () => {
  const { url, requests } = await served(({ input }, response) => {
    const data = input.map((text, index) => ({
      object: "embedding",
      index,
      embedding: [text.length, index],
    }));
    json(response, 200, { data: data.reverse(), usage: { prompt_tokens: 7, total_tokens: 7 } });
  });
  const found = await embed(
    { baseUrl: `${url}/`, model: "m", apiKey: "secret-key-1", dimensions: 2, passagePrefix: "passage: " },
    ["a", "bcd"],
  );
  assert.ok(!isFailure(found), "text" in found ? found.text : "");
  assert.deepEqual(
    [found.vectors.map((one) => [...one]), found.tokens],
    [
      [
        [10, 0],
        [12, 1],
      ],
      7,
    ],
  );
  const [sent] = requests;
  assert.equal(sent?.headers.authorization, "Bearer secret-key-1");
  assert.deepEqual(sent?.body, {
    model: "m",
    input: ["passage: a", "passage: bcd"],
    encoding_format: "float",
    dimensions: 2,
  });
});

it("explains a wrong answer, and never shows the key", async () => {
  const answers: readonly (readonly [Answer, RegExp, string])[] = [
    [(_, r) => json(r, 401, { error: { message: "bad key secret-key-1" } }), /EMBED_KEY/, "unauthorized"],
    [(_, r) => json(r, 500, { error: { message: "out of memory" } }), /out of memory/, "server-error"],
    [(_, r) => json(r, 429, { error: { message: "slow down" } }), /slow down/, "rate-limited"],
    [(_, r) => r.end("<html>hello</html>"), /something else in place of 2/, "stream-broken"],
    [
      (_, r) => json(r, 200, { data: [{ embedding: [1] }] }),
      /answered with 1 in place of 2/,
      "stream-broken",
    ],
    [
      (_, r) => json(r, 200, { data: [{ embedding: [1] }, { embedding: ["x"] }] }),
      /cannot be read/,
      "stream-broken",
    ],
    [
      (_, r) =>
        json(r, 200, {
          data: [
            { index: 0, embedding: [1] },
            { index: 0, embedding: [1] },
          ],
        }),
      /cannot be read/,
      "stream-broken",
    ],
    [
      (_, r) => json(r, 200, { data: [{ embedding: [1, 2] }, { embedding: [1] }] }),
      /vectors of 1 numbers where 2/,
      "stream-broken",
    ],
    [(_, r) => void r.destroy(), /broke off/, "stream-broken"],
  ];
  for (const [answer, text, code] of answers) {
    const { url } = await served(answer);
    const found = await embed(
      { baseUrl: url, model: "m", apiKey: "secret-key-1", keyVariable: "EMBED_KEY" },
      ["a", "b"],
    );
    assert.ok(isFailure(found));
    assert.match(found.text, text);
    assert.equal(found.code, code, found.text);
    assert.doesNotMatch(JSON.stringify(found), /secret-key-1/);
  }
});

it("stops on the caller's signal, and refuses invalid addresses", async () => {
  const stop = new AbortController();
  const { url } = await served(() => stop.abort());
  const found = await embed({ baseUrl: url, model: "m" }, ["a"], stop.signal);
  assert.equal(isFailure(found) && found.code, "cancelled");
  for (const [baseUrl, apiKey] of [
    ["nonsense", undefined],
    ["ftp://example.com/v1", undefined],
    ["http://example.com/v1", "secret-key-1"],
  ] as const) {
    const opened = openEmbedder({ baseUrl, model: "m", ...(apiKey && { apiKey }) });
    assert.equal(isFailure(opened) && opened.code, "config-invalid");
  }
});
