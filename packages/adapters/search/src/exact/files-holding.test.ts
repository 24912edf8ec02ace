import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, it } from "node:test";
import { isFailure } from "@lathe/protocol";
import { fc } from "@lathe/testkit/properties";
import { openSample, put, sampleRepository } from "../exact-samples.ts";
import { fileFilterOf } from "../file-filter.ts";
import { filesHolding } from "./files-holding.ts";

const folder = mkdtempSync(join(tmpdir(), "lathe-holding-"));
after(() => rmSync(folder, { recursive: true }));
const literal = (pattern: string) => ({ pattern, literal: true, limit: 10 });

it("omits only files that do not contain a text", () => {
  const text = fc
    .array(fc.constantFrom("pot", "tea", " ", "\n", "é"), { maxLength: 8 })
    .map((all) => all.join(""));
  fc.assert(
    fc.property(fc.array(text, { maxLength: 6 }), text, (texts, asked) => {
      const paths = texts.map((content, at) => {
        writeFileSync(join(folder, `${at}.txt`), content);
        return `${at}.txt`;
      });
      const expected = paths.filter((_, at) => texts[at]?.includes(asked));
      assert.deepEqual(filesHolding(folder, paths, literal(asked)), expected);
      assert.deepEqual(filesHolding(folder, paths, { ...literal(asked), ignoreCase: true }), paths);
    }),
  );
});

it("leaves large, differently encoded, missing and irregular files to ripgrep", () => {
  writeFileSync(join(folder, "large"), "x".repeat(1_000_000));
  writeFileSync(join(folder, "utf16"), Buffer.from("\ufefftea", "utf16le"));
  const paths = ["large", "utf16", ".", "gone"];
  assert.deepEqual(filesHolding(folder, paths, literal("pot")), paths);
});

it("needs no ripgrep for a text that occurs nowhere, although its trigrams do", async (t) => {
  const root = sampleRepository(folder);
  rmSync(join(root, "doc/utf16.txt"));
  put(root, "src/parts.ts", "samov movar ovaru\n");
  const { exact } = await openSample(root, mkdtempSync(join(folder, "cache-")));
  t.after(() => exact.close());
  const place = { root, program: [join(folder, "no-ripgrep")], path: "" };
  const search = () => assert.fail("the index was not used");
  for (const [pattern, isThere] of [
    ["samovaru", false],
    ["samov movar", true],
  ] as const) {
    const query = literal(pattern);
    const fileFilter = fileFilterOf({ root, path: "" }, query);
    assert.ok(!isFailure(fileFilter));
    const found = await exact.grep({ place, fileFilter, query }, search, new AbortController().signal);
    assert.equal(isFailure(found), isThere);
  }
});
