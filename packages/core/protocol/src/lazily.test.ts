import assert from "node:assert/strict";
import { test } from "node:test";
import { lazily } from "./lazily.ts";

test("opens nothing before the first call", async () => {
  let count = 0;
  const one = lazily(async () => ++count);
  assert.equal(one.opened(), undefined);
  assert.equal(count, 0);
  assert.equal(await one(), 1);
  assert.equal(await one.opened(), 1);
});

test("all callers get the same result, even while it is opening", async () => {
  let count = 0;
  const one = lazily(async () => ({ count: ++count }));
  const [first, second] = await Promise.all([one(), one()]);
  assert.equal(first, second);
  assert.equal(await one(), first);
});

test("all callers get a rejection, without a second try", async () => {
  let count = 0;
  const one = lazily(async () => {
    count += 1;
    throw new Error("broken");
  });
  await assert.rejects(one(), /broken/);
  await assert.rejects(one(), /broken/);
  assert.equal(count, 1);
});

test("an outcome that is not kept is tried again by the next caller", async () => {
  let count = 0;
  const one = lazily(
    async () => ++count,
    (outcome) => outcome === 2,
  );
  assert.deepEqual(await Promise.all([one(), one()]), [1, 1]);
  assert.equal(one.opened(), undefined);
  assert.equal(await one(), 2);
  assert.equal(await one(), 2);
});
