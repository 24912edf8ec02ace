import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { loadShop, saveShop, updateShop } from "../src/storage.js";

let folder;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "corner-shop-"));
});

after(() => rm(folder, { recursive: true }));

test("a shop without a file is empty", async () => {
  const shop = await loadShop(join(folder, "none.json"));
  assert.deepEqual(shop.orders, []);
  assert.equal(shop.inventory.available("TEA"), 0);
});

test("what was saved is loaded again", async () => {
  const path = join(folder, "saved.json");
  const shop = await loadShop(path);
  shop.inventory.receive("TEA", 5);
  shop.inventory.reserve("TEA", 2);
  shop.orders.push({ customer: "Ada", total: 900 });
  await saveShop(path, shop);
  const again = await loadShop(path);
  assert.equal(again.inventory.available("TEA"), 3);
  assert.deepEqual(again.orders, [{ customer: "Ada", total: 900 }]);
});

test("an update is saved after the change is done", async () => {
  const path = join(folder, "updated.json");
  const available = await updateShop(path, async (shop) => {
    await new Promise((resolve) => setTimeout(resolve, 5));
    shop.inventory.receive("MUG", 3);
    return shop.inventory.available("MUG");
  });
  assert.equal(available, 3);
  const again = await loadShop(path);
  assert.equal(again.inventory.available("MUG"), 3);
});

test("unknown formats are refused", async () => {
  const path = join(folder, "future.json");
  await writeFile(path, JSON.stringify({ format: 2 }));
  await assert.rejects(loadShop(path), /unknown format 2/);
});
