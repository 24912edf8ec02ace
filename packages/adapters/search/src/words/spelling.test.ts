/** How a query's words are spelled in a text. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { fc } from "@lathe/testkit/properties";
import { createSpeller } from "./spelling.ts";
import { wordsOfText } from "./words.ts";

function spelled(text: string, ...asked: readonly string[]): Readonly<Record<string, string>> {
  const words = asked.map((one) => ({ text: one, hash: wordsOfText(one)[0] ?? assert.fail(one) }));
  const found = createSpeller(words)(Buffer.from(text), words);
  return Object.fromEntries(
    words.flatMap(({ text: one, hash }) => {
      const written = found.get(hash);
      return written === undefined ? [] : [[one, written]];
    }),
  );
}

it("words appear as in the query if the text has that form, else as in the text", () => {
  assert.deepEqual(spelled("Boils(); boil(); boiled", "boil"), { boil: "boil" });
  assert.deepEqual(spelled("the kettle boils", "boiling", "kettles"), {
    boiling: "boils",
    kettles: "kettle",
  });
  assert.deepEqual(spelled("func boilWater() {}", "water", "boiling"), { water: "water", boiling: "boil" });
  assert.deepEqual(spelled("BOIL_WATER = 1", "boilWater", "water"), {
    boilWater: "BOIL_WATER",
    water: "water",
  });
});

it("a part appears as that part, and text too long for a word is ignored", () => {
  const words = wordsOfText("boilWater").map((hash) => ({ hash, text: "boilWater" }));
  const spell = createSpeller(words);
  const said = (text: string): readonly string[] => [...spell(Buffer.from(text), words).values()];
  assert.deepEqual(said("function water() { boilWater(); }"), ["boilWater", "boil", "water"]);
  assert.deepEqual(said("function water() {}"), ["water"]);
  assert.deepEqual(said(`boil${"0".repeat(70)} water_${"a1".repeat(400_000)} ${"f".repeat(70)}_water`), []);
});

it("differently beginning forms are found, and missing words are not", () => {
  assert.deepEqual(spelled("we try it; nothing else", "tried", "kettle"), { tried: "try" });
});

it("words beyond ASCII appear as in the text", () => {
  assert.deepEqual(spelled("der Käse und das Café", "kase", "cafe"), { kase: "Käse", cafe: "Café" });
  assert.deepEqual(spelled("return ключ;", "ключ"), { ключ: "ключ" });
});

it("all words that an index finds in a text are reported, and no others", () => {
  const stems = ["boil", "try", "run", "go", "kettle", "HTTP", "v2", "käse", "s", "class"];
  const tails = ["", "s", "ing", "ed", "er", "ion", "ies", "Water", "_x", "2"];
  const name = fc
    .tuple(fc.constantFrom("", "_", "is", "GET_"), fc.constantFrom(...stems), fc.constantFrom(...tails))
    .map((parts) => parts.join(""));
  const text = fc.array(fc.tuple(name, fc.constantFrom(" ", "(", ".", "-")), { maxLength: 20 });
  fc.assert(
    fc.property(text, fc.array(name, { minLength: 1, maxLength: 4 }), (pieces, asked) => {
      const there = pieces.flat().join("");
      const inThere = new Set(wordsOfText(there));
      const words = asked.flatMap((one) => wordsOfText(one).map((hash) => ({ hash, text: one })));
      const found = createSpeller(words)(Buffer.from(there), words);
      for (const { hash } of words) {
        const written = found.get(hash);
        assert.equal(written !== undefined, inThere.has(hash));
        if (written === undefined) continue;
        assert.ok(wordsOfText(written).includes(hash));
        assert.ok(
          there.toLowerCase().replaceAll(/[_$]/g, "").includes(written.toLowerCase().replaceAll(/[_$]/g, "")),
        );
      }
    }),
  );
});
