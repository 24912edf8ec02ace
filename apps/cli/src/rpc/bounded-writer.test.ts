/** A writer that stops when nobody reads. */
import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { it } from "node:test";
import { boundedWriter } from "./bounded-writer.ts";

it("writes as long as somebody reads, and says once when nobody does", () => {
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

it("one line that is longer than that is written", () => {
  const stream = new PassThrough({ highWaterMark: 1 });
  const full: number[] = [];
  const { write } = boundedWriter(stream, 1_000, (bytes) => full.push(bytes));
  write("x".repeat(5_000));
  assert.deepEqual(full, []);
});
