import assert from "node:assert/strict";
import { test } from "node:test";
import { readCatalogue, splitLine } from "../src/catalogue.js";

const csv = `code,name,price,weight
# drinks
TEA,Green tea,4.50,120
COF,"Coffee, ground",8.00,500

MUG,"Mug ""Monday""",12.90,350
`;

test("splits quoted fields", () => {
  assert.deepEqual(splitLine('a,"b, c",d'), ["a", "b, c", "d"]);
  assert.deepEqual(splitLine('"say ""hi"""'), ['say "hi"']);
});

test("reads every product of the price list", () => {
  const catalogue = readCatalogue(csv);
  assert.deepEqual([...catalogue.keys()], ["TEA", "COF", "MUG"]);
  assert.deepEqual(catalogue.get("COF"), { code: "COF", name: "Coffee, ground", price: 800, weight: 500 });
  assert.equal(catalogue.get("MUG").name, 'Mug "Monday"');
});

test("names missing columns", () => {
  assert.throws(() => readCatalogue("code,name\nA,B"), /missing columns: price, weight/);
});
