import assert from "node:assert/strict";
import { test } from "node:test";
import { parcelCount, parcelRate, postage, totalWeight } from "../src/shipping.js";

test("adds up weights", () => {
  const lines = [
    { product: { weight: 120 }, quantity: 3 },
    { product: { weight: 500 }, quantity: 1 },
  ];
  assert.equal(totalWeight(lines), 860);
});

test("knows the rate of one parcel", () => {
  assert.equal(parcelRate(500), 290);
  assert.equal(parcelRate(501), 490);
  assert.equal(parcelRate(20_000), 1_490);
  assert.throws(() => parcelRate(20_001), /too heavy/);
});

test("splits heavy orders into parcels", () => {
  assert.equal(parcelCount(20_000), 1);
  assert.equal(parcelCount(20_001), 2);
  assert.equal(postage(0), 0);
  assert.equal(postage(1_200), 490);
  assert.equal(postage(41_000), 2 * 1_490 + 490);
});
