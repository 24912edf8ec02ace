import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Failure, isFailure } from "@lathe/protocol";
import { assertGrowth } from "@lathe/testkit/growth";
import { fc } from "@lathe/testkit/properties";
import { applyReplacements } from "./apply-edits.ts";
import type { Replacement } from "./dialects/replacements.ts";

function applied(text: string, ...edits: Replacement[]): { readonly text: string; readonly ranges: unknown } {
  const result = applyReplacements({ path: "a.ts", text }, edits);
  if (isFailure(result)) return assert.fail(result.text);
  return { text: result.text, ranges: result.ranges };
}

function refused(text: string, ...edits: Replacement[]): Failure {
  const result = applyReplacements({ path: "a.ts", text }, edits);
  if (!isFailure(result)) return assert.fail(`applied: ${result.text}`);
  assert.match(result.text, /Nothing was written\./);
  return result;
}

describe("applyReplacements", () => {
  it("replaces a unique piece and reports which lines are new", () => {
    assert.deepEqual(applied("a\nb\nc\n", { old: "b", new: "x\ny" }), {
      text: "a\nx\ny\nc\n",
      ranges: [[2, 3]],
    });
    assert.deepEqual(applied("a\nb\nc\n", { old: "b\n", new: "" }), { text: "a\nc\n", ranges: [[2, 2]] });
  });

  it("matches several edits against the same original", () => {
    const result = applied("one\ntwo\nthree\n", { old: "three", new: "one" }, { old: "one", new: "1\n1" });
    assert.deepEqual(result, {
      text: "1\n1\ntwo\none\n",
      ranges: [
        [1, 2],
        [4, 4],
      ],
    });
  });

  it("replaces every place if asked", () => {
    const result = applied("a a\na\n", { old: "a", new: "aa", all: true });
    assert.deepEqual(result, {
      text: "aa aa\naa\n",
      ranges: [
        [1, 1],
        [1, 1],
        [2, 2],
      ],
    });
  });

  it("does not interpret $ patterns of the new text", () => {
    assert.equal(applied("x = 1", { old: "1", new: "$&$'$1" }).text, "x = $&$'$1");
  });

  it("applies LF edits to CRLF files and keeps their endings", () => {
    assert.equal(
      applied("a\r\nb\r\nc\r\n", { old: "a\nb\n", new: "a\nx\ny\n" }).text,
      "a\r\nx\r\ny\r\nc\r\n",
    );
    assert.equal(applied("a\r\nb", { old: "b", new: "b\nc" }).text, "a\r\nb\r\nc");
    assert.equal(applied("a\nb\n", { old: "a\r\nb", new: "a\r\nx" }).text, "a\nx\n");
  });

  it("keeps each line's own ending in a file that mixes them", () => {
    const result = applied("a\r\nb\nc\r\nd\n", { old: "a\nb\nc\nd\n", new: "a\nb\nB\nc\nd\n" });
    assert.equal(result.text, "a\r\nb\nB\nc\r\nd\n");
  });

  it("keeps the byte order mark", () => {
    assert.equal(applied("\uFEFFa\n", { old: "a", new: "b" }).text, "\uFEFFb\n");
  });

  it("refuses an ambiguous piece with its lines, overlapping occurrences counted", () => {
    const ambiguous = refused("x\ny\nx\n", { old: "x", new: "z" });
    assert.equal(ambiguous.code, "ambiguous-match");
    assert.match(ambiguous.text, /line 1, line 3/);
    assert.equal(refused("aaa", { old: "aa", new: "b" }).code, "ambiguous-match");
  });

  it("shows the nearest lines if nothing matches", () => {
    const text = "function a() {\n    return 1;\n}\n\nfunction total(items) {\n  return items.length;\n}\n";
    const spaced = refused(text, { old: "}\n function  a() {", new: "x" });
    assert.equal(spaced.code, "no-match");
    assert.match(spaced.text, /nearest.*\n1\tfunction a\(\) \{\n/s);
    const reworded = refused(text, { old: "function total(list) {\n  return list.size;\n}", new: "x" });
    assert.match(reworded.text, /nearest.*\n5\tfunction total\(items\) \{\n/s);
    const long = `${text}${"x();\n".repeat(40)}`;
    assert.match(refused(long, { old: "zzz qqq", new: "x" }).text, /No lines of the file are like it/);
  });

  it("says so if the new text is already there", () => {
    assert.match(
      refused("const total = 2;\n", { old: "const total = 1;", new: "const total = 2;" }).text,
      /already applied: `new` is in the file at line 1/,
    );
  });

  it("refuses edits that are empty, without effect or overlapping", () => {
    assert.equal(refused("a", { old: "", new: "b" }).code, "invalid-arguments");
    assert.equal(refused("a", { old: "a", new: "a" }).code, "no-change");
    assert.equal(refused("a\r\nb", { old: "a\nb", new: "a\r\nb" }).code, "no-change");
    const overlap = refused("a b c", { old: "a b", new: "x" }, { old: "b c", new: "y" });
    assert.match(overlap.text, /edits\[0\] and edits\[1\] overlap at line 1/);
  });

  it("takes time linear in the file, found or not", () => {
    const work = (lines: number): void => {
      const text = Array.from(
        { length: lines },
        (_, i) => `  const value${i} = compute(${i}, "text");\r\n`,
      ).join("");
      const at = lines - 1000;
      applied(text, { old: `value${at} = compute(${at}`, new: "value = compute(1" });
      refused(text, { old: 'const  valueX = compute(X,\n "text")', new: "x" });
    };
    assertGrowth(work, { sizes: [1_250, 20_000], atMost: 64 });
  });

  it("changes only what it names", () => {
    const lines = fc.array(fc.constantFrom("a", "b", "", "{", "  c", "é𝄞"), { maxLength: 12 });
    const ending = fc.constantFrom("\n", "\r\n");
    const file = fc.array(fc.tuple(fc.constantFrom("a", "b", "", "é𝄞"), ending), { maxLength: 12 });
    fc.assert(
      fc.property(file, lines, file, (before, fresh, after) => {
        const join = (part: readonly (readonly string[])[]): string =>
          part.map((line) => line.join("")).join("");
        const text = `${join(before)}<old>${join(after)}`;
        const result = applied(text, { old: "<old>", new: fresh.join("\n") });
        assert.ok(result.text.startsWith(join(before)));
        assert.ok(result.text.endsWith(join(after)));
        const middle = result.text.slice(join(before).length, result.text.length - join(after).length);
        assert.equal(middle.replaceAll("\r\n", "\n"), fresh.join("\n"));
      }),
    );
  });

  it("keeps the ending of every remaining line, whatever is inserted and removed", () => {
    const ending = fc.constantFrom("\n", "\r\n");
    const file = fc.array(fc.tuple(fc.boolean(), ending), { minLength: 1, maxLength: 15 });
    fc.assert(
      fc.property(file, fc.array(fc.nat(15), { maxLength: 4 }), (plan, inserts) => {
        const text = plan.map(([, end], i) => `line ${i}${end}`).join("");
        const kept = plan.map(([keep], i) => (keep ? `line ${i}\n` : ""));
        for (const at of inserts) kept[Math.min(at, kept.length - 1)] += "new\n";
        const fresh = kept.join("");
        const old = text.replaceAll("\r\n", "\n");
        if (old === fresh) return;
        const result = applied(text, { old, new: fresh }).text;
        assert.equal(result.replaceAll("\r\n", "\n"), fresh);
        for (const [i, [keep, end]] of plan.entries()) assert.equal(result.includes(`line ${i}${end}`), keep);
      }),
    );
  });
});
