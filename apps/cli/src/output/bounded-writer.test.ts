/** Tests the writer that stops when its reader has stopped. */
import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { it } from "node:test";
import { boundedWriter } from "./bounded-writer.ts";

it("writes as long as the output is read, and reports once when it is not", () => {
  const stream = new PassThrough({ highWaterMark: 1 });
  const full: number[] = [];
  const { write } = boundedWriter(stream, 1_000, (bytes) => full.push(bytes));
  for (let line = 0; line < 50; line++) {
    write("x".repeat(100));
    stream.read();
  }
  assert.deepEqual(full, []);
  for (let line = 0; line < 50; line++) write("x".repeat(100));
  assert.equal(full.length, 1);
  assert.ok(stream.writableLength <= 1_200, `${stream.writableLength}`);
});

it("writes one line that is longer than the limit", () => {
  const stream = new PassThrough({ highWaterMark: 1 });
  const full: number[] = [];
  const { write } = boundedWriter(stream, 1_000, (bytes) => full.push(bytes));
  write("x".repeat(5_000));
  assert.deepEqual(full, []);
});

it("resolves drained when the reader reads again, or when it is gone", async () => {
  const stream = new PassThrough({ highWaterMark: 1 });
  const { write, drained } = boundedWriter(stream, 1_000_000, () => undefined);
  let written = 0;
  const writing = (async () => {
    for (; written < 100; written++) {
      write("x".repeat(100));
      await drained();
    }
  })();
  await new Promise(setImmediate);
  assert.ok(written < 3, `${written}`);
  stream.resume();
  await writing;
  stream.pause();
  write("x".repeat(1_000));
  const left = drained();
  stream.destroy();
  await left;
});
