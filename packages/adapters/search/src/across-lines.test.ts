import assert from "node:assert/strict";
import { it } from "node:test";
import { acrossLines, crossesLines } from "./across-lines.ts";

it("recognizes patterns that should match across lines", () => {
  const over = [
    "a\\nb",
    "a\nb",
    "\\\\\\n",
    "[\\s\\S]",
    "a[\\S\\s]*?b",
    "(?s)a.b",
    "(?is:a.b)",
    "(?s-i)a",
    "\\R",
  ];
  for (const pattern of over) assert.ok(crossesLines({ pattern }), pattern);
  const within = ["a\\\\name", "\\s+", "a.b", "(?i)s", "(?-s)a.b", "(?P<s>a)", "(?<s>a)", "(?:s)", "[^a]"];
  for (const pattern of within) assert.ok(!crossesLines({ pattern }), pattern);
  assert.ok(crossesLines({ pattern: "a\nb", literal: true }));
  for (const pattern of ["a\\nb", "[\\s\\S]"]) assert.ok(!crossesLines({ pattern, literal: true }), pattern);
});

it("accepts either kind of newline for a newline in the pattern", () => {
  for (const [pattern, expected] of [
    ["a\\nb", "a(?:\\r?\\n)b"],
    ["a\nb\\n+", "a(?:\\r?\\n)b(?:\\r?\\n)+"],
    ["\\r\\n", "\\r(?:\\r?\\n)"],
    ["\\\\n\\[\\n", "\\\\n\\[(?:\\r?\\n)"],
    ["[\\n ]\\n", "[\\n ](?:\\r?\\n)"],
    ["[^]\\n][[:alpha:]\\n]", "[^]\\n][[:alpha:]\\n]"],
    ["(?x) a\n\\n", "(?x) a\n\\n"],
  ] as const)
    assert.equal(acrossLines({ pattern }), expected);
  assert.equal(acrossLines({ pattern: "f(a)\r\n  b\\n\n", literal: true }), "f\\(a\\)\\r?\\n  b\\\\n\\r?\\n");
});
