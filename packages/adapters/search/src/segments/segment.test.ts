import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, it } from "node:test";
import { fc } from "@lathe/testkit/properties";
import { codeLanguages } from "../definitions/languages.ts";
import { wordsOfText } from "../words/words.ts";
import { mergeSegments } from "./merge-segments.ts";
import {
  chunkMask,
  countShift,
  decodeSegment,
  definesWhole,
  type HeldSegment,
  type Segment,
  wordAt,
} from "./segment.ts";
import { SegmentBuilder } from "./segment-builder.ts";
import { SegmentReader } from "./segment-reader.ts";

const folder = mkdtempSync(join(tmpdir(), "lathe-segment-"));
after(() => rmSync(folder, { recursive: true }));

const id = "0123456789abcdef0123456789abcdef01234567";

function built(texts: readonly string[]): HeldSegment {
  const builder = new SegmentBuilder();
  for (const text of texts) builder.add({ id, language: "script", bytes: Buffer.from(text) });
  return builder.finish();
}

function segmentAt(path: string, reader = new SegmentReader()): Segment {
  const segment = reader.read(path);
  assert.ok(segment && segment !== "torn");
  return segment;
}

function chunksWith(segment: Segment, word: string): readonly number[] {
  const place = wordAt(segment, wordsOfText(word)[0] ?? 0);
  if (place < 0) return [];
  return [...segment.postings(place)].map((posting) => posting & chunkMask);
}

it("finds a word in each chunk that has it, and marks the chunk that defines it", () => {
  const long = (name: string) => `function ${name}() {\n${"  step();\n".repeat(30)}}\n`;
  const segment = built([`${long("first")}${long("second")}`, "second();\n"]);
  assert.deepEqual(chunksWith(segment, "second"), [1, 2]);
  const place = wordAt(segment, wordsOfText("second")[0] ?? 0);
  const [first = 0, second = 0] = segment.postings(place);
  assert.ok((first >>> countShift) & definesWhole);
  assert.equal((second >>> countShift) & definesWhole, 0);
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

it("is equal after decoding, and undefined if its bytes are torn anywhere", () => {
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

const texts = fc.array(
  fc
    .array(fc.constantFrom("function pour() {", "  pot = tea;", "}", "// steep", "class Cup {", ""), {
      maxLength: 90,
    })
    .map((lines) => lines.join("\n")),
  { maxLength: 5 },
);

it("is the same merged from parts as built at once, without unwanted files", () => {
  fc.assert(
    fc.property(texts, texts, fc.infiniteStream(fc.boolean()), (one, other, wanted) => {
      const parts = [built(one), built(other)];
      assert.deepEqual(mergeSegments(parts, () => true).bytes, built([...one, ...other]).bytes);
      const kept = [...one, ...other].map(() => wanted.next().value);
      const isWanted = (segment: Segment, file: number) =>
        kept[(segment === parts[0] ? 0 : one.length) + file] ?? false;
      const expected = built([...one, ...other].filter((_, at) => kept[at]));
      assert.deepEqual(mergeSegments(parts, isWanted).bytes, expected.bytes);
    }),
  );
});

it("is the same read from its file list by list, and undefined if that is torn anywhere", () => {
  const path = join(folder, "a.segment");
  fc.assert(
    fc.property(texts, fc.nat(), fc.boolean(), (files, at, isCut) => {
      const segment = built(files);
      writeFileSync(path, segment.bytes);
      const read = segmentAt(path);
      assert.deepEqual(read.words, segment.words);
      for (let place = 0; place < segment.words.length; place++) {
        assert.deepEqual(read.postings(place), segment.postings(place).slice());
      }
      const torn = segment.bytes.slice(0, isCut ? at % segment.bytes.length : undefined);
      if (!isCut) torn[at % torn.length] = (torn[at % torn.length] ?? 0) ^ 0x10;
      writeFileSync(path, torn);
      assert.equal(new SegmentReader().read(path), "torn");
    }),
    { numRuns: 20 },
  );
});

it("reports its loss once its file is gone", () => {
  const path = join(folder, "b.segment");
  writeFileSync(path, built(["pour(tea);"]).bytes);
  const reader = new SegmentReader();
  const segment = segmentAt(path, reader);
  reader.rest();
  rmSync(path);
  assert.deepEqual(segment.postings(0), new Uint32Array(0));
  assert.deepEqual([...reader.lost], [path]);
  assert.equal(reader.read(path), undefined);
});

it("finds each of many words at its place, and no other", () => {
  const names = Array.from({ length: 6_000 }, (_, n) => `cup${n}saucer`);
  const segment = built(names.map((name) => `${name}\n`));
  assert.equal(segment.words.length, names.length);
  segment.words.forEach((word, place) => {
    assert.equal(wordAt(segment, word), place);
    if (segment.words[place + 1] !== word + 1) assert.equal(wordAt(segment, word + 1), -1);
  });
  for (const word of [0, 2 ** 32 - 1]) assert.equal(wordAt(segment, word), -1);
  assert.equal(wordAt(built([]), 7), -1);
});
