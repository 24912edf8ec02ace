import assert from "node:assert/strict";
import { test } from "node:test";
import { Inventory } from "../src/inventory.js";
import { cancelOrder, placeOrder, shipOrder } from "../src/orders.js";

function openShop() {
  const catalogue = new Map([
    ["TEA", { code: "TEA", price: 450, weight: 120 }],
    ["MUG", { code: "MUG", price: 1290, weight: 350 }],
  ]);
  const inventory = new Inventory();
  inventory.receive("TEA", 10);
  inventory.receive("MUG", 3);
  return { catalogue, inventory };
}

const request = {
  customer: "Ada",
  date: "2026-06-01",
  wishes: [
    { code: "TEA", quantity: 2 },
    { code: "MUG", quantity: 1 },
  ],
};

test("an order costs its goods and the postage", () => {
  const order = placeOrder(openShop(), request);
  assert.equal(order.goods, 2190);
  assert.equal(order.shipping, 490);
  assert.equal(order.total, 2680);
  assert.equal(order.status, "open");
});

test("when one line is short nothing stays reserved", () => {
  const shop = openShop();
  const wishes = [
    { code: "TEA", quantity: 5 },
    { code: "MUG", quantity: 4 },
  ];
  assert.throws(() => placeOrder(shop, { ...request, wishes }), /not enough in stock: MUG/);
  assert.equal(shop.inventory.available("TEA"), 10);
  assert.equal(shop.inventory.available("MUG"), 3);
});

test("unknown products and empty wishes are refused", () => {
  assert.throws(
    () => placeOrder(openShop(), { ...request, wishes: [{ code: "X", quantity: 1 }] }),
    /no such/,
  );
  assert.throws(
    () => placeOrder(openShop(), { ...request, wishes: [{ code: "TEA", quantity: 0 }] }),
    /nothing/,
  );
});

test("cancelling puts the goods back", () => {
  const shop = openShop();
  const order = placeOrder(shop, request);
  assert.equal(shop.inventory.available("TEA"), 8);
  const cancelled = cancelOrder(shop, order);
  assert.equal(cancelled.status, "cancelled");
  assert.equal(shop.inventory.available("TEA"), 10);
});

test("what was sent cannot be cancelled", () => {
  const shop = openShop();
  const sent = shipOrder(shop, placeOrder(shop, request));
  assert.throws(() => cancelOrder(shop, sent), /the order is sent/);
  assert.equal(shop.inventory.available("MUG"), 2);
});
