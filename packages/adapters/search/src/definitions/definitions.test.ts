/** Definitions by lines: what is only looked at is no definition. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { fc } from "@lathe/testkit/properties";
import { definitionIn, definitionsOf } from "./definitions.ts";
import { codeLanguages } from "./languages.ts";

const words =
  "abstract async cdef class const cpdef data def default defmacro defmodule defp declare enum export extern final fn fun func function impl import inline interface int let local macro_rules! main mod module namespace object open package pub public private protected readonly record return set static struct trait type typedef union unsafe val var void # #define @it A Name _a $a self.".split(
    " ",
  );
const ends = [
  "",
  "(",
  "()",
  "() {",
  "(a int) {",
  " = 1",
  " = (a) => {",
  ": int = 1",
  " {",
  ";",
  " = function (",
  "::b(c)",
];

it("are those of each line, whatever stands before and behind its first word", () => {
  const line = fc
    .record({
      indent: fc.constantFrom("", " ", "  ", "    ", "\t", "\t\t", "        "),
      said: fc.array(fc.constantFrom(...words), { minLength: 1, maxLength: 4 }),
      name: fc.constantFrom("", " b", " Value", " a_b", "name", "::name"),
      end: fc.constantFrom(...ends),
    })
    .map(({ indent, said, name, end }) => `${indent}${said.join(" ")}${name}${end}`);
  let found = 0;
  fc.assert(
    fc.property(fc.constantFrom(...codeLanguages), line, (language, text) => {
      const names = definitionsOf(text, [0], language).map(({ name }) => name);
      // Shorter ones are none.
      const one = text.trim().length < 3 ? undefined : definitionIn(language, text);
      assert.deepEqual(names, one ? [one.name] : []);
      found += names.length;
    }),
    { numRuns: 5_000 },
  );
  assert.ok(found > 250, `${found}`);
});

it("have names of any alphabet, in text and in bytes", () => {
  for (const [language, line, name] of [
    ["python", "def größe(x):", "größe"],
    ["script", "export function 读取配置(path) {", "读取配置"],
    ["script", "  設定を読む(path) {", "設定を読む"],
    ["script", "const übersicht = (a) => a;", "übersicht"],
    ["go", "func (s *Сервис) Запуск() error {", "Запуск"],
    ["rust", "pub fn naïve<T>() -> T {", "naïve"],
    ["java", "    private Größe berechneGröße(int länge) {", "berechneGröße"],
    ["kotlin", "fun größe(): Int {", "größe"],
    ["c", "static int größe(int a) {", "größe"],
    ["ruby", "  def größe?", "größe?"],
    ["php", "    public function größe() {", "größe"],
  ] as const) {
    assert.equal(definitionIn(language, line)?.name, name, line);
    const bytes = Buffer.from(line).toString("latin1");
    const [found] = definitionsOf(bytes, [0], language);
    assert.equal(Buffer.from(found?.name ?? "", "latin1").toString(), name, line);
  }
});
