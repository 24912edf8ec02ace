/**
 * Tests web tools in a session: offered where usable, judged by rules, and never a way to private addresses.
 */
import assert from "node:assert/strict";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, it } from "node:test";
import type { AssistantPart } from "@lathe/protocol";
import { startWireServer, type WireServer } from "@lathe/testkit";
import { makePlace } from "./in-process.ts";
import { type Place, wireEnv } from "./lathe.ts";

describe("web tools", () => {
  let place: Place;
  let server: WireServer;
  let inner: Server;
  let asked: number;
  let address: string;
  beforeEach(async () => {
    place = makePlace();
    asked = 0;
    inner = createServer((_, response) => {
      asked++;
      response.end("secret of this machine");
    });
    await new Promise<void>((ready) => inner.listen(0, "127.0.0.1", ready));
    address = `127.0.0.1:${(inner.address() as AddressInfo).port}`;
  });
  afterEach(async () => {
    inner.close();
    await server.close();
    place.remove();
  });

  const run = async (
    args: readonly string[],
    { url = `http://${address}/`, ...env }: Readonly<Record<string, string>> = {},
  ) => {
    const call: AssistantPart = {
      ...{ type: "tool-call", id: "c1", tool: "web_fetch" },
      input: JSON.stringify({ url }),
    };
    server = await startWireServer([{ parts: [call] }, { parts: [{ type: "text", text: "done" }] }]);
    return place.run(["run", "--no-sandbox", ...args, "go"], { env: { ...wireEnv(server.url), ...env } });
  };
  const offered = (): readonly string[] => {
    const tools = server.records[0]?.body.tools ?? [];
    return (tools as readonly { readonly name: string }[]).flatMap(({ name }) =>
      /^web/.test(name) ? name : [],
    );
  };
  const result = () => JSON.stringify(server.records[1]?.request.messages.at(-1));

  it("are not offered if each call would end the run", async () => {
    await run([]);
    assert.deepEqual(offered(), []);
  });

  it("cannot reach this machine, even if a rule allows the host", async () => {
    await run(["--allow", `network:${address}`]);
    assert.deepEqual(offered(), ["web_fetch"]);
    assert.match(result(), /not on the public internet/);
    assert.equal(asked, 0);
  });

  it("do not ask about this machine, and say how to reach it", async () => {
    for (const url of [`http://${address}/`, `http://${address.replace("127.0.0.1", "localhost")}/`]) {
      const { code, err } = await run(["--allow", "network:example.com"], { url });
      assert.equal(code, 0, err);
      assert.match(result(), /no rule makes it a page of the web\. A server that commands here start/);
      await server.close();
    }
    assert.equal(asked, 0);
  });

  it("are judged by the network rules; search is available with a key", async () => {
    const url = "http://page.invalid:8080/";
    const rules = [{ name: "no-page", verdict: "deny", kinds: ["network"], target: "page.invalid" }];
    place.put("lathe.json", JSON.stringify({ rules }));
    await run(["--allow", "network:*"], { url, BRAVE_API_KEY: "brave-key-1" });
    assert.deepEqual(offered(), ["web_fetch", "web_search"]);
    assert.match(result(), /Refused \(no-page\)/);
    await server.close();
    place.put("lathe.json", "{}");
    const blocked = await run(["--allow", "network:example.com"], { url });
    assert.equal(blocked.code, 3);
    assert.match(blocked.err, /--allow 'network:page\.invalid:8080'/);
  });
});
