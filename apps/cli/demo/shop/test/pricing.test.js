import assert from "node:assert/strict";
import { test } from "node:test";
import { couponValue, discountFor, linePrice, orderTotal } from "../src/pricing.js";

const tea = { code: "TEA", price: 450 };
const mug = { code: "MUG", price: 1290 };

test("larger quantities are cheaper", () => {
  assert.equal(discountFor(9), 0);
  assert.equal(discountFor(10), 5);
  assert.equal(discountFor(20), 10);
  assert.equal(discountFor(120), 15);
});

test("a line has its quantity discount", () => {
  assert.equal(linePrice(tea, 2), 900);
  assert.equal(linePrice(tea, 20), 8100);
});

test("coupons count until they expire, from their minimum on", () => {
  const coupon = { amount: 500, minimum: 2000, expires: "2026-06-30" };
  assert.equal(couponValue(coupon, 2000, "2026-06-30"), 500);
  assert.equal(couponValue(coupon, 1999, "2026-06-01"), 0);
  assert.equal(couponValue(coupon, 5000, "2026-07-01"), 0);
  assert.equal(couponValue(undefined, 5000, "2026-07-01"), 0);
});

test("a coupon never takes off more than there is", () => {
  assert.equal(couponValue({ amount: 500, expires: "2026-06-30" }, 300, "2026-06-01"), 300);
});

test("totals add the lines and take off the coupon", () => {
  const lines = [
    { product: tea, quantity: 10 },
    { product: mug, quantity: 1 },
  ];
  assert.equal(orderTotal(lines, undefined, "2026-06-01"), 4275 + 1290);
  assert.equal(orderTotal(lines, { percent: 10, expires: "2026-06-30" }, "2026-06-01"), 5008);
});
