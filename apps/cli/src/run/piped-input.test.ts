import assert from "node:assert/strict";
import { PassThrough, Readable } from "node:stream";
import { it } from "node:test";
import { isFailure } from "@lathe/protocol";
import { readInput } from "./piped-input.ts";

it("reads to the end, however late it comes", async () => {
  const input = new PassThrough();
  const read = readInput(input, 60_000);
  input.write("a");
  setImmediate(() => input.end("b"));
  assert.equal(await read, "ab");
});

it("does not wait for a silent pipe", async () => {
  assert.equal(await readInput(new PassThrough(), 1), "");
});

it("refuses more input than the limit", async () => {
  const endless = Readable.from(
    (function* (): Generator<Buffer> {
      for (;;) yield Buffer.alloc(1_000_000);
    })(),
  );
  const failed = await readInput(endless, undefined);
  assert.ok(isFailure(failed));
  assert.match(failed.text, /save it to a file/);
});
