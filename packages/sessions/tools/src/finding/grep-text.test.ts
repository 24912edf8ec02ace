import assert from "node:assert/strict";
import { it } from "node:test";
import { isFailure } from "@lathe/protocol";
import { grepText, type TextQuery } from "./grep-text.ts";

const plain: TextQuery = { pattern: "", literal: false, ignoreCase: false, context: 0, limit: 100 };
const numbers = async (text: string, query: Partial<TextQuery>): Promise<readonly number[]> => {
  const found = await grepText(text, { ...plain, ...query });
  assert.ok(!isFailure(found));
  return found.lines.map(({ line, match }) => (match ? line : -line));
};

it("finds lines like ripgrep, with the lines around them", async () => {
  const text = "one\ntwo.\nthree\nTWO.\nfive\n";
  assert.deepEqual(await numbers(text, { pattern: "^t" }), [2, 3]);
  assert.deepEqual(await numbers(text, { pattern: "two.", literal: true, ignoreCase: true }), [2, 4]);
  assert.deepEqual(await numbers(text, { pattern: "(?i)^two" }), [2, 4]);
  assert.deepEqual(await numbers(text, { pattern: "three", context: 1 }), [-2, 3, -4]);
  assert.deepEqual(await numbers(text, { pattern: "nothing" }), []);
  const cut = await grepText(text, { ...plain, pattern: ".", limit: 2 });
  assert.ok(!isFailure(cut) && cut.more && cut.lines.length === 2);
});

it("finds a match far into a long line, and shows the text around it", async () => {
  const long = `${"x".repeat(30_000)}😀 NEEDLE ${"😀".repeat(30_000)}`;
  const found = await grepText(`${long}\n${long}\nshort\n`, { ...plain, pattern: "NEEDLE", context: 1 });
  assert.ok(!isFailure(found));
  const [first, second, third] = found.lines;
  assert.match(first?.text ?? "", /^\.\.\.x{10,}😀 NEEDLE (?:😀){10,}\.\.\.$/u);
  assert.ok(first?.match && second?.match && first.text.length < 510 && first.text.isWellFormed());
  assert.equal(third?.text, "short");
  const none = await grepText(`${long}\nNEEDLE\n`, { ...plain, pattern: "^NEEDLE", context: 1 });
  assert.ok(!isFailure(none) && !none.lines[0]?.match);
  assert.match(none.lines[0]?.text ?? "", /^x{500}\.\.\.$/);
});

it("refuses an invalid pattern", async () => {
  const found = await grepText("a\n", { ...plain, pattern: "(" });
  assert.ok(isFailure(found) && found.code === "search-failed");
});

it("stops a pattern that backtracks forever, and lets other work run meanwhile", async () => {
  const turn = new Promise<string>((resolve) => setTimeout(resolve, 0, "a turn"));
  const asked = grepText(`${"a".repeat(40)}!\n`, { ...plain, pattern: "(a+)+$" });
  assert.equal(await Promise.race([asked, turn]), "a turn");
  const found = await asked;
  assert.ok(isFailure(found) && found.code === "search-failed");
});
