/** Tests `lathe index --embed` and later searches, with a real embedding server. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, it } from "node:test";
import { makePlace } from "./in-process.ts";
import type { Place } from "./lathe.ts";

const dimensions = 128;
const same: Readonly<Record<string, string>> = { scalding: "boil", liquid: "water" };

/** Counts the words of a text; synonyms count as one. */
function vectorOf(text: string): readonly number[] {
  const vector = Array.from({ length: dimensions }, () => 0);
  for (const word of text.match(/[A-Z]?[a-z]+/g) ?? []) {
    const meant = same[word.toLowerCase()] ?? word.toLowerCase();
    const at = createHash("sha256").update(meant).digest().readUInt32LE(0) % dimensions;
    vector[at] = (vector[at] as number) + 1;
  }
  return vector;
}

describe("embeddings from the command line", () => {
  let place: Place;
  let server: Server;
  let sent: string[];
  let keys: unknown[];

  beforeEach(async () => {
    place = makePlace({ EMBED_KEY: "embed-secret-1" });
    sent = [];
    keys = [];
    server = createServer(async (request, response) => {
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(part as Buffer);
      const { input } = JSON.parse(Buffer.concat(parts).toString()) as { readonly input: readonly string[] };
      sent.push(...input);
      keys.push(request.headers.authorization);
      const data = input.map((text, index) => ({ object: "embedding", index, embedding: vectorOf(text) }));
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ object: "list", data, usage: { prompt_tokens: 3, total_tokens: 3 } }));
    });
    const { promise, resolve } = Promise.withResolvers<void>();
    server.listen(0, "127.0.0.1", resolve);
    await promise;
    for (let n = 0; n < 20; n++)
      place.put(`src/part${n}.ts`, `export function part${n}() {\n  return ${n};\n}\n`);
    place.put("src/kettle.ts", "export function boilWater() {\n  return 100;\n}\n");
    place.put("private/plan.ts", "export const plan = 'boilTheSea';\n");
    place.put(".env", "boilWater=hunter2hunter2\n");
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
    place.remove();
  });

  function configure(more: Readonly<Record<string, unknown>> = {}): void {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
    const embeddings = { url, model: "words", apiKeyEnv: "EMBED_KEY", price: 0.02, ...more };
    const rules = [{ name: "private", kinds: ["read"], target: "private/**", verdict: "deny" }];
    place.put("../home/.config/lathe/config.json", JSON.stringify({ search: { embeddings }, rules }));
  }

  it("shows the destination and the price, sends nothing without approval, and then finds by meaning", async () => {
    configure();
    const asked = await place.run(["index", "--embed"]);
    assert.notEqual(asked.code, 0);
    assert.match(
      asked.err,
      /21 of 21 chunks of 21 files, about \d+ tokens, about \$0\.0000, go to words at 127/,
    );
    assert.match(asked.err, /nothing was sent; `lathe index --embed --yes` sends it/);
    assert.deepEqual(sent, []);
    const query = ["search", "where is the scalding liquid made", "--json"];
    assert.equal((await place.run(query)).code, 1);
    assert.deepEqual(sent, []);
    const done = await place.run(["index", "--embed", "--yes", "--json"]);
    assert.equal(done.code, 0, done.err);
    assert.equal(JSON.parse(done.out).embedded.chunks, 21);
    assert.ok(keys.every((key) => key === "Bearer embed-secret-1"));
    assert.doesNotMatch(sent.join("\n"), /hunter2|boilTheSea/);
    const found = await place.run(query);
    assert.equal(JSON.parse(found.out).results[0].path, "src/kettle.ts");
    assert.equal(sent.length, 22);
    assert.doesNotMatch(done.err + done.out + found.err, /embed-secret-1/);
  });

  it("still searches if the server is gone, and says what is missing", async () => {
    configure();
    await place.run(["index", "--embed", "--yes"]);
    server.closeAllConnections();
    server.close();
    const found = await place.run(["search", "how does water boil"]);
    assert.equal(found.code, 0, found.err);
    assert.match(found.out, /^src\/kettle\.ts/);
    assert.match(found.err, /Searched without embeddings: /);
  });

  it("explains how to set a server, and accepts none from a project", async () => {
    const none = await place.run(["index", "--embed"]);
    assert.match(none.err, /no server of embeddings is set: write "search"/);
    assert.equal((await place.run(["index", "--yes"])).code, 2);
    place.put("lathe.json", JSON.stringify({ search: { embeddings: { url: "http://evil", model: "m" } } }));
    const project = await place.run(["index", "--embed"]);
    assert.match(project.err, /search: only your own configuration may set this/);
    assert.deepEqual(sent, []);
  });

  it("names the key that is not set", async () => {
    configure({ apiKeyEnv: "NO_SUCH_KEY" });
    const { err } = await place.run(["index", "--embed", "--yes"]);
    assert.match(err, /search\.embeddings\.apiKeyEnv names NO_SUCH_KEY, which is not set/);
  });
});
