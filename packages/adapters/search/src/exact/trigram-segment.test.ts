import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, it } from "node:test";
import { fc } from "@lathe/testkit/properties";
import { mayMatch, type Plan } from "./plan.ts";
import { TrigramBuilder } from "./trigram-builder.ts";
import { filesFor, filesIn, openTrigramSegment } from "./trigram-segment.ts";
import { createTrigramSet, trigramsOfFolded } from "./trigrams.ts";

const folder = mkdtempSync(join(tmpdir(), "lathe-trigrams-"));
after(() => rmSync(folder, { recursive: true }));
const path = join(folder, "one.trigrams");
const id = "0123456789abcdef0123456789abcdef01234567";

function write(texts: readonly string[]): Uint8Array {
  const builder = new TrigramBuilder();
  for (const text of texts) builder.add(id, Buffer.from(text));
  const bytes = builder.finish();
  writeFileSync(path, bytes);
  return bytes;
}

function found(plan: Plan): readonly number[] | "torn" | undefined {
  const segment = openTrigramSegment(path);
  const bits = segment && segment !== "torn" ? filesFor(segment, plan) : segment;
  return bits && bits !== "torn" ? [...filesIn(bits)] : bits;
}

const word = fc.stringMatching(/^[abAB ]{1,8}$/);
const has = fc
  .stringMatching(/^[ab ]{3,6}$/)
  .map((text): Plan => ({ type: "has", trigrams: trigramsOfFolded(text) }));
const plan = fc.letrec<{ plan: Plan }>((tie) => ({
  plan: fc.oneof(
    { maxDepth: 2 },
    has,
    fc.constant<Plan>({ type: "any" }),
    fc.record({
      type: fc.constantFrom("and" as const, "or" as const),
      parts: fc.array(tie("plan"), { minLength: 1 }),
    }),
  ),
})).plan;

it("gives the files whose trigrams meet any plan, and no more than a few others", () => {
  const set = createTrigramSet();
  const files = fc.array(
    fc.array(word, { maxLength: 6 }).map((words) => words.join("\n")),
    {
      minLength: 1,
      maxLength: 60,
    },
  );
  fc.assert(
    fc.property(files, plan, (texts, asked) => {
      write(texts);
      const expected = texts.flatMap((text, file) =>
        mayMatch(asked, new Set(set.collect(Buffer.from(text)))) ? [file] : [],
      );
      const given = found(asked) as readonly number[];
      assert.deepEqual(
        expected.filter((file) => !given.includes(file)),
        [],
      );
      assert.ok(given.every((file) => file < texts.length));
    }),
  );
});

it("is exact for one trigram, rare or in most files", () => {
  const texts = Array.from(
    { length: 3000 },
    (_, n) => `${n % 3 === 0 ? "" : "often"} number${n}x ${n % 700 === 5 ? "rarely" : ""}`,
  );
  write(texts);
  for (const word of ["oft", "rar", "r17", "umb", "zzz"]) {
    const expected = texts.flatMap((text, file) => (text.includes(word) ? [file] : []));
    assert.deepEqual(found({ type: "has", trigrams: trigramsOfFolded(word) }), expected, word);
  }
});

it("takes a file that is not text as far as its first NUL", () => {
  write(["before\0behind", "behind"]);
  assert.deepEqual(found({ type: "has", trigrams: trigramsOfFolded("before") }), [0]);
  assert.deepEqual(found({ type: "has", trigrams: trigramsOfFolded("behind") }), [1]);
});

it("gives nothing rather than wrong files when it is torn anywhere, or gone", () => {
  const whole = write(["one kettle", "two kettles", "no tea"]).slice();
  const kettle: Plan = { type: "has", trigrams: trigramsOfFolded("kettle") };
  assert.deepEqual(found(kettle), [0, 1]);
  fc.assert(
    fc.property(fc.nat(whole.length - 1), fc.boolean(), (at, isCut) => {
      const torn = isCut ? whole.slice(0, at) : whole.slice();
      if (!isCut) torn[at] = (torn[at] ?? 0) ^ 0x10;
      writeFileSync(path, torn);
      assert.equal(found(kettle), "torn");
    }),
  );
  rmSync(path);
  assert.equal(found(kettle), "torn");
});

it("is not called torn for that it cannot be read", () => {
  mkdirSync(path);
  assert.equal(found({ type: "any" }), undefined);
});
