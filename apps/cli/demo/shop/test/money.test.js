import assert from "node:assert/strict";
import { test } from "node:test";
import { formatMoney, parseMoney, percentOf } from "../src/money.js";

test("reads amounts with and without cents", () => {
  assert.equal(parseMoney("12.50"), 1250);
  assert.equal(parseMoney(" 7 "), 700);
  assert.throws(() => parseMoney("7.5"), /not an amount/);
});

test("writes amounts with two digits of cents", () => {
  assert.equal(formatMoney(1250), "12.50");
  assert.equal(formatMoney(705), "7.05");
  assert.equal(formatMoney(9), "0.09");
});

test("takes a percentage in whole cents", () => {
  assert.equal(percentOf(1999, 15), 300);
  assert.equal(percentOf(1000, 0), 0);
});
