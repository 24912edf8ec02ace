import assert from "node:assert/strict";
import { it } from "node:test";
import fc from "fast-check";
import { codeLanguages } from "../definitions/languages.ts";
import { wordsOfText } from "../words/words.ts";
import { decodeSegment, definesWhole, type Segment, wordAt } from "./segment.ts";
import { SegmentBuilder } from "./segment-builder.ts";

const id = "0123456789abcdef0123456789abcdef01234567";

function built(texts: readonly string[]): Segment {
  const builder = new SegmentBuilder();
  for (const text of texts) builder.add({ id, language: "script", bytes: Buffer.from(text) });
  return builder.finish();
}

function chunksWith(segment: Segment, word: string): readonly number[] {
  const place = wordAt(segment, wordsOfText(word)[0] ?? 0);
  if (place < 0) return [];
  return [...segment.postingChunks.subarray(segment.firstPostings[place], segment.firstPostings[place + 1])];
}

it("finds a word in each chunk that has it, and marks the chunk that defines it", () => {
  const long = (name: string) => `function ${name}() {\n${"  step();\n".repeat(30)}}\n`;
  const segment = built([`${long("first")}${long("second")}`, "second();\n"]);
  assert.deepEqual(chunksWith(segment, "second"), [1, 2]);
  const place = wordAt(segment, wordsOfText("second")[0] ?? 0);
  const at = segment.firstPostings[place] ?? 0;
  assert.ok((segment.postingCounts[at] ?? 0) & definesWhole);
  assert.equal((segment.postingCounts[at + 1] ?? 0) & definesWhole, 0);
  assert.deepEqual(chunksWith(segment, "third"), []);
});

it("covers every line of every file once, in chunks of at most 60 lines", () => {
  const line = fc.constantFrom("", "function f() {", "  x = y;", "}", "// why", "class A {", "é");
  fc.assert(
    fc.property(fc.array(fc.array(line, { minLength: 1, maxLength: 200 }), { maxLength: 4 }), (files) => {
      const segment = built(files.map((lines) => `${lines.join("\n")}\n`));
      files.forEach((lines, file) => {
        let next = 1;
        for (
          let chunk = segment.firstChunks[file] ?? 0;
          chunk < (segment.firstChunks[file + 1] ?? 0);
          chunk++
        ) {
          const packed = segment.lines[chunk] ?? 0;
          assert.equal(packed & 0xffffff, next);
          assert.ok(packed >>> 24 >= 1 && packed >>> 24 <= 60);
          next += packed >>> 24;
        }
        assert.equal(next, lines.length + 1);
      });
    }),
  );
});

it("finds every identifier of any text again", () => {
  const identifier = fc
    .stringMatching(/^[A-Za-z_][A-Za-z0-9_]{1,30}$/)
    .filter((one) => /[a-z0-9]{2}/i.test(one.replaceAll("_", "")));
  fc.assert(
    fc.property(fc.array(identifier, { minLength: 1, maxLength: 50 }), (names) => {
      const segment = built([names.join(" = ")]);
      for (const name of names) assert.ok(chunksWith(segment, name).length > 0, name);
    }),
  );
});

it("is the same again from its bytes, and nothing when these are torn anywhere", () => {
  const segment = built(["function a() {}\n", "class Bcd {}\n"]);
  const again = decodeSegment(segment.bytes.slice());
  assert.deepEqual(again?.words, segment.words);
  assert.equal(codeLanguages[again?.languages[0] ?? 0], "script");
  fc.assert(
    fc.property(fc.nat(segment.bytes.length - 1), fc.boolean(), (at, isCut) => {
      const torn = isCut ? segment.bytes.slice(0, at) : segment.bytes.slice();
      if (!isCut) torn[at] = (torn[at] ?? 0) ^ 0x10;
      assert.equal(decodeSegment(torn), undefined);
    }),
  );
});
