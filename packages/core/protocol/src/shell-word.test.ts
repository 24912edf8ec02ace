import assert from "node:assert/strict";
import { it } from "node:test";
import { quoteWord, quoteWordIfNeeded } from "./shell-word.ts";

it("quotes every word", () => {
  assert.equal(quoteWord("a"), "'a'");
  assert.equal(quoteWord(""), "''");
  assert.equal(quoteWord("it's $HOME"), String.raw`'it'\''s $HOME'`);
});

it("quotes a word that a shell would not take literally", () => {
  for (const plain of ["a", "--color=never", "a/b.c:1", "x@y+z%,-", "tests/a-b_c.py::d"])
    assert.equal(quoteWordIfNeeded(plain), plain);
  for (const text of ["", "a b", "~", "*", "$x", "$HOME", "a;b", "a\nb", "it's", "é"])
    assert.equal(quoteWordIfNeeded(text), quoteWord(text));
});
