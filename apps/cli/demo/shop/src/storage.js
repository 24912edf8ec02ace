/** Stores the shop in one JSON file. */
import { readFile, rename, writeFile } from "node:fs/promises";
import { Inventory } from "./inventory.js";

const format = 1;

/** Reads the shop from a file; an empty shop if there is no file yet. */
export async function loadShop(path) {
  let text;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if (error.code === "ENOENT") return { inventory: new Inventory(), orders: [] };
    throw error;
  }
  const data = JSON.parse(text);
  if (data.format !== format) throw new Error(`${path}: unknown format ${data.format}`);
  return { inventory: Inventory.fromJSON(data.inventory), orders: data.orders };
}

/** Writes a new file beside the old one, then swaps them, so that a crash never leaves half a file. */
export async function saveShop(path, shop) {
  const data = { format, inventory: shop.inventory, orders: shop.orders };
  await writeFile(`${path}.new`, JSON.stringify(data, null, 2));
  await rename(`${path}.new`, path);
}

/** Loads, changes and saves; returns the result of `change`. */
export async function updateShop(path, change) {
  const shop = await loadShop(path);
  const result = await change(shop);
  await saveShop(path, shop);
  return result;
}
