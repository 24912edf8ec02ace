/** Tests messages over the size limit: every server reports the error, ends, and stores none of it. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { afterEach, beforeEach, describe, it } from "node:test";
import { makePlace, type Place } from "./lathe.ts";

describe("a message without an end", () => {
  let place: Place;
  beforeEach(() => {
    place = makePlace();
  });
  afterEach(() => place.remove());

  for (const [name, args] of [
    ["lathe acp", ["acp", "--no-sandbox"]],
    ["lathe mcp serve", ["mcp", "serve", "--no-sandbox"]],
  ] as const) {
    it(`ends ${name} with the reason`, async () => {
      const { child, ended } = place.start(args, { input: null });
      const isGone = once(child, "exit");
      child.stdin?.write('{"jsonrpc":"2.0","id":1,"method":"');
      const piece = "x".repeat(2 ** 20);
      for (let sent = 0; sent < 40 && child.exitCode === null; sent++) {
        if (child.stdin?.write(piece) === false)
          await Promise.race([once(child.stdin, "drain").catch(() => undefined), isGone]);
      }
      const { code, err } = await ended;
      assert.equal(code, 2, err);
      assert.match(err, /at most \d+ MiB|more than \d+ MiB, the most there may be/);
      assert.ok(!err.includes("xxxx"));
    });
  }
});
