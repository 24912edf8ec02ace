import assert from "node:assert/strict";
import { test } from "node:test";
import { bestSellers, customerReport, medianTotal, pageOf, piecesSold, revenue } from "../src/sales.js";

const orders = [
  { customer: "Ada", date: "2026-05-30", status: "sent", total: 2680, lines: [{ code: "TEA", quantity: 2 }] },
  { customer: "Ben", date: "2026-06-01", status: "sent", total: 1000, lines: [{ code: "MUG", quantity: 5 }] },
  {
    customer: "Ada",
    date: "2026-06-15",
    status: "sent",
    total: 4000,
    lines: [
      { code: "TEA", quantity: 1 },
      { code: "JAM", quantity: 3 },
    ],
  },
  {
    customer: "Cy",
    date: "2026-06-30",
    status: "cancelled",
    total: 500,
    lines: [{ code: "JAM", quantity: 9 }],
  },
  { customer: "Ben", date: "2026-06-30", status: "open", total: 700, lines: [] },
];

test("pages count from 1", () => {
  const letters = ["a", "b", "c", "d", "e"];
  assert.deepEqual(pageOf(letters, 1, 2), ["a", "b"]);
  assert.deepEqual(pageOf(letters, 2, 2), ["c", "d"]);
  assert.deepEqual(pageOf(letters, 3, 2), ["e"]);
  assert.deepEqual(pageOf(letters, 4, 2), []);
});

test("revenue counts both ends of the period and no cancelled order", () => {
  assert.equal(revenue(orders, "2026-06-01", "2026-06-30"), 5700);
  assert.equal(revenue(orders, "2026-07-01", "2026-07-31"), 0);
});

test("counts the pieces sold", () => {
  assert.deepEqual(Object.fromEntries(piecesSold(orders)), { TEA: 3, MUG: 5, JAM: 3 });
});

test("best sellers first, equal ones by name", () => {
  assert.deepEqual(bestSellers(orders, 3), ["MUG", "JAM", "TEA"]);
  assert.deepEqual(bestSellers(orders, 1), ["MUG"]);
});

test("finds the median of odd and even numbers of orders", () => {
  assert.equal(medianTotal(orders), 1000);
  assert.equal(medianTotal(orders.slice(0, 4)), 1840);
  assert.equal(medianTotal([]), 0);
});

test("reports each customer's orders and spending", () => {
  assert.deepEqual(customerReport(orders).Ada, { orders: 2, spent: 6680 });
  assert.deepEqual(customerReport(orders).Cy, { orders: 1, spent: 500 });
});
