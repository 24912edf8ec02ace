import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, it } from "node:test";
import { fc } from "@lathe/testkit/properties";
import { rgPath } from "@vscode/ripgrep";
import { planOfPattern } from "./pattern.ts";
import { mayMatch } from "./plan.ts";
import { createTrigramSet, foldedBytes, trigramsOfFolded } from "./trigrams.ts";

const folder = mkdtempSync(join(tmpdir(), "lathe-pattern-"));
after(() => rmSync(folder, { recursive: true }));
const set = createTrigramSet();

/** What a pattern requires of three kinds of texts: with its literals, in capitals, and without. */
function requires(pattern: string, text: string, ignoreCase = false): boolean {
  return !mayMatch(planOfPattern({ pattern, ignoreCase }), new Set(set.collect(Buffer.from(text))));
}

it("requires what every match holds, across classes, repeats, groups and alternatives", () => {
  const rows: readonly (readonly [pattern: string, holds: string, lacks: string])[] = [
    ["kettle", "KETTLE", "ketle"],
    ["ket+le", "kettttle", "kele"],
    ["boil(ing)? water", "boil water", "boilin water"],
    ["(?:tea|coffee)pot", "teapot", "tea pot"],
    ["(foo\\w+bar)baz", "foo1barbaz", "foo1bar baz"],
    ["[bc]oil", "coil", "foil"],
    ["x(abc){2}y", "xabcabcy", "xabcy"],
    ["first\\s+second", "first second", "first secon"],
    ["\\bword\\b", "word", "wor"],
    ["a\\.bcd", "a.bcd", "a-bcd"],
    ["\\x6bettle\\u{21}", "kettle!", "kettle"],
    ["漢字かな", "漢字かな", "漢字かに"],
    ["(?i)kettle", "\u212aettle", "ettle"],
    ["abc+?def", "abcdef", "abdef"],
  ];
  for (const [pattern, holds, lacks] of rows) {
    assert.ok(!requires(pattern, holds), `${pattern} matches ${holds}`);
    assert.ok(requires(pattern, lacks), `${pattern} cannot match ${lacks}`);
  }
});

it("requires nothing where it does not know the syntax, or a match may cross lines", () => {
  const patterns = [
    "abc(?=def)",
    "(?x)a b c",
    "abc\\ndef",
    "(?-u)\\xffabc",
    "\\Qabc\\E",
    "abc(",
    "*abc",
    "[a&&b]cde",
  ];
  for (const pattern of [...patterns, "abc{,3}d", "(?P=name)abc", "abc\\1", "[[a]b]cde"]) {
    assert.equal(planOfPattern({ pattern }).type, "any", pattern);
  }
  assert.notEqual(planOfPattern({ pattern: "abc(?=def)", literal: true }).type, "any");
});

it("folds text and patterns in the same way, whatever stands around", () => {
  const part = fc.constantFrom("k", "K", "\u212a", "ſ", "s", "é", "漢", "x", "Z", "_");
  fc.assert(
    fc.property(fc.array(part), fc.array(part, { minLength: 3 }), fc.array(part), (before, inner, behind) => {
      const found = new Set(set.collect(Buffer.from([...before, ...inner, ...behind].join(""))));
      for (const trigram of trigramsOfFolded(inner.map(foldedBytes).join(""))) assert.ok(found.has(trigram));
    }),
  );
});

const atom = fc.constantFrom(
  "a",
  "b",
  "k",
  "S",
  "é",
  "É",
  "漢",
  "ſ",
  "\u212a",
  ".",
  "\\w",
  "\\W",
  "\\.",
  "[ab]",
  "[^a]",
  "[k-s]",
  "[]a]",
  "^",
  "$",
  "\\b",
  "ab",
  "abk",
  "é漢",
  "\\x61",
  "(?i:k)",
  "[[:alpha:]]",
  "\\pL",
  "(?i)",
  "-",
  "]",
  "}",
  " ",
  "abk",
  "kab",
  "bks",
  "sab",
  "éab",
  "bsk",
  "kSb",
);
const { pattern } = fc.letrec<{ pattern: string; sequence: string; one: string }>((tie) => ({
  pattern: fc.array(tie("sequence"), { minLength: 1, maxLength: 3 }).map((all) => all.join("|")),
  sequence: fc.array(tie("one"), { minLength: 1, maxLength: 5 }).map((all) => all.join("")),
  one: fc.oneof(
    { maxDepth: 2, depthSize: "xsmall" },
    { weight: 5, arbitrary: atom },
    {
      weight: 2,
      arbitrary: fc
        .tuple(atom, fc.constantFrom("*", "+", "?", "{2}", "{1,3}", "{0,2}", "{4}", "+?", "??", "{2,}"))
        .map((both) => both.join("")),
    },
    { weight: 2, arbitrary: tie("pattern").map((inner) => `(?:${inner})`) },
    { weight: 1, arbitrary: tie("pattern").map((inner) => `(?:${inner})+`) },
    { weight: 1, arbitrary: tie("pattern").map((inner) => `(?:${inner})?`) },
  ),
}));

it("never rules out a text that ripgrep finds", () => {
  const run = fc.constantFrom("abk", "kab", "BKS", "sab", "éab", "bſk", "ksb", "aab");
  const letter = fc.constantFrom(
    "a",
    "A",
    "b",
    "k",
    "K",
    "s",
    "S",
    "é",
    "É",
    "漢",
    "ſ",
    "\u212a",
    ".",
    "-",
    " ",
    "]",
  );
  const line = fc.array(fc.oneof(letter, run), { maxLength: 12 }).map((all) => all.join(""));
  const texts = fc.array(fc.array(line, { minLength: 1, maxLength: 4 }), { minLength: 16, maxLength: 16 });
  const ends = fc.constantFrom("\n", "\r\n");
  let matched = 0;
  let ruledOut = 0;
  fc.assert(
    fc.property(pattern, texts, fc.tuple(fc.boolean(), ends), (source, files, [ignoreCase, end]) => {
      files.forEach((lines, at) => {
        writeFileSync(join(folder, `${at}`), lines.join(end));
      });
      const args = [
        "--no-config",
        "--crlf",
        "--engine",
        "auto",
        "-l",
        "--null",
        ...(ignoreCase ? ["-i"] : []),
      ];
      const { status, stdout } = spawnSync(rgPath, [...args, "-e", source, folder], { encoding: "utf8" });
      if (status === 2) return;
      const plan = planOfPattern({ pattern: source, ignoreCase });
      const found = new Set(stdout.split("\0").map((path) => path.slice(folder.length + 1)));
      files.forEach((lines, at) => {
        const may = mayMatch(plan, new Set(set.collect(Buffer.from(lines.join(end)))));
        if (!may) ruledOut++;
        if (!found.has(`${at}`)) return;
        matched++;
        assert.ok(may, `${source} is found in ${JSON.stringify(lines)}`);
      });
    }),
    { numRuns: 40 },
  );
  // Else nothing was tried.
  assert.ok(matched > 40 && ruledOut > 40, `${matched} matched, ${ruledOut} ruled out`);
});
