/** Frames: any split of the bytes, and invalid bytes. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { fc } from "@lathe/testkit/properties";
import { createFrames, framed, type Message } from "./frames.ts";

it("joins messages, however their bytes are split", () => {
  const message = fc.record({
    method: fc.string(),
    params: fc.oneof(fc.string({ unit: "binary" }), fc.json()),
  });
  fc.assert(
    fc.property(fc.array(message, { maxLength: 5 }), fc.array(fc.nat({ max: 40 })), (messages, cuts) => {
      const bytes = Buffer.concat(messages.map((one) => framed(one)));
      const take = createFrames();
      const taken: Message[] = [];
      let at = 0;
      for (const cut of [...cuts, bytes.length]) {
        const got = take(bytes.subarray(at, at + cut));
        if (typeof got === "string") assert.fail(got);
        taken.push(...got);
        at += cut;
      }
      const plain = messages.map((one) => ({
        jsonrpc: "2.0",
        ...(JSON.parse(JSON.stringify(one)) as Message),
      }));
      assert.deepEqual(taken, plain);
    }),
  );
});

it("fails for good on invalid data, and buffers no more than one message", () => {
  const rows: readonly (readonly [string, RegExp])[] = [
    ["Content-Type: x\r\n\r\n{}", /does not speak/],
    [`${"log line\n".repeat(1_000)}`, /does not speak/],
    ["Content-Length: 99999999999\r\n\r\n", /message of 99999999999 bytes/],
    ["Content-Length: 2\r\n\r\n[]", /no JSON object/],
    ["Content-Length: 3\r\n\r\n{x}", /no JSON object/],
  ];
  for (const [text, why] of rows) {
    const take = createFrames();
    assert.match(String(take(Buffer.from(text))), why);
    assert.match(String(take(framed({ method: "x" }))), why);
  }
});
