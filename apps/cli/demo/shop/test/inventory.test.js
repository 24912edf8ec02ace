import assert from "node:assert/strict";
import { test } from "node:test";
import { Inventory } from "../src/inventory.js";

function stocked() {
  const inventory = new Inventory();
  inventory.receive("TEA", 10);
  inventory.receive("MUG", 3);
  return inventory;
}

test("what is reserved is not available", () => {
  const inventory = stocked();
  assert.equal(inventory.reserve("TEA", 4), true);
  assert.equal(inventory.available("TEA"), 6);
  assert.equal(inventory.available("NONE"), 0);
});

test("everything in stock can be reserved, one more cannot", () => {
  const inventory = stocked();
  assert.equal(inventory.reserve("MUG", 4), false);
  assert.equal(inventory.reserve("MUG", 3), true);
  assert.equal(inventory.available("MUG"), 0);
});

test("releasing gives back at most what was reserved", () => {
  const inventory = stocked();
  inventory.reserve("TEA", 4);
  inventory.release("TEA", 9);
  assert.equal(inventory.available("TEA"), 10);
});

test("shipping takes goods off the shelf", () => {
  const inventory = stocked();
  inventory.reserve("TEA", 4);
  inventory.ship("TEA", 4);
  assert.equal(inventory.available("TEA"), 6);
  assert.throws(() => inventory.ship("TEA", 1), /never reserved/);
});

test("lists what is running low", () => {
  const inventory = stocked();
  inventory.receive("JAM", 1);
  assert.deepEqual(inventory.runningLow(4), ["JAM", "MUG"]);
  assert.deepEqual(inventory.runningLow(3), ["JAM"]);
});
