/**
 * Tests that requests of one session extend each other on every wire, so that the prompt cache works as
 * expected.
 */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Event } from "@lathe/protocol";
import { createPrefixCache, startWireServer, type WireAnswer, type WireServer } from "@lathe/testkit";
import { makePlace } from "./in-process.ts";
import type { Place } from "./lathe.ts";

const steps = 8;
const grain = 128;

/** Alternates between reads and commands, with reasoning before each. */
function answerAt(index: number): WireAnswer["parts"] {
  if (index === steps) return [{ type: "text", text: "done" }];
  const command = { command: `echo ${"so much ".repeat(20 * index)}` };
  const call = index % 2 ? { tool: "shell", input: command } : { tool: "read", input: { path: "a.txt" } };
  return [
    { type: "text", text: `Step ${index}.` },
    { type: "tool-call", id: `c${index}`, tool: call.tool, input: JSON.stringify(call.input) },
  ];
}

describe("the prompt cache over the wire", () => {
  let place: Place;
  let server: WireServer;
  before(async () => {
    let index = 0;
    const cache = createPrefixCache({ min: 1024, grain: 1, ttlMs: 300_000, now: Date.now });
    server = await startWireServer(() => ({ parts: answerAt(index++ % (steps + 1)) ?? [], usage: cache }));
    place = makePlace();
    place.put("a.txt", "some words\n".repeat(100));
    const baseUrl = server.url;
    const providers = {
      anthropic: { baseUrl, apiKey: "k" },
      google: { baseUrl, apiKey: "k" },
      openai: { baseUrl: `${baseUrl}/v1`, apiKey: "k" },
      xai: { baseUrl: `${baseUrl}/v1`, apiKey: "k" },
    };
    place.put("../home/.config/lathe/config.json", JSON.stringify({ providers }));
  });
  after(async () => {
    place.remove();
    await server.close();
  });

  for (const model of [
    "anthropic/claude-sonnet-5-5",
    "openai/gpt-6.1-sol",
    "xai/grok-4",
    "google/gemini-3.8-flash",
  ]) {
    it(`hits the expected tokens: ${model}`, async () => {
      const { code, err } = await place.run(["run", "--no-sandbox", "--model", model, "read and echo"]);
      assert.equal(code, 0, err);
      const { id } = JSON.parse((await place.run(["sessions", "list", "--json"])).out)[0];
      const log = (await place.run(["sessions", "show", id, "--json"])).out.trim().split("\n");
      const events = log.map((line): Event => JSON.parse(line));
      const done = events.flatMap((event) => (event.type === "step.completed" ? [event.data] : []));
      assert.equal(done.length, steps + 1);
      for (const { cache, usage } of done.slice(1)) {
        assert.equal(cache?.miss, undefined);
        const over = (usage?.cached ?? 0) - (cache?.expected ?? 0);
        assert.ok(
          over >= -1 && over < grain && (usage?.cached ?? 0) > 1024,
          `${cache?.expected} ${usage?.cached}`,
        );
      }
      const reserved = events.flatMap((event) =>
        event.type === "budget.reserved" ? [event.data.tokens] : [],
      );
      done.forEach(({ usage }, at) => {
        assert.ok((reserved[at] ?? 0) >= (usage?.input ?? 0) + (usage?.output ?? 0));
      });
    });
  }
});
