/** Tables of bugs for the templates' tests: the repair that is wanted, and within how many candidates it must come. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Language } from "@lathe/protocol";
import { applied, type Candidate, candidatesOf } from "../candidates.ts";
import { grammars } from "../grammars.test.ts";

const LANGUAGES = { py: "python", js: "javascript", ts: "typescript", tsx: "tsx" } as const;

export type Short = keyof typeof LANGUAGES;

/** A buggy text, what it should say, and the worst rank that is good enough. */
export type Row = readonly [language: Short, buggy: string, fixed: string, within: number];

/** All candidates of a text of which every line is equally suspicious. */
export function candidatesFor(language: Language, text: string): Promise<readonly Candidate[]> {
  const lines = new Map(text.split("\n").map((_, index) => [index + 1, 1]));
  return candidatesOf({ path: "file", language, text, lines }, grammars);
}

/** The texts that a template proposes for a buggy text. */
export async function proposals(
  template: string,
  [language, buggy]: readonly [Short, string],
): Promise<readonly string[]> {
  const all = await candidatesFor(LANGUAGES[language], buggy);
  return all
    .filter((candidate) => candidate.template === template)
    .map((candidate) => applied(buggy, candidate));
}

/** One test per row: the candidate that gives the fixed text is of this template and ranks high enough. */
export function ranks(template: string, rows: readonly Row[]): void {
  describe(template, () => {
    for (const [language, buggy, fixed, within] of rows) {
      it(`${language}: ${oneLine(buggy)}  ->  ${oneLine(fixed)}`, async () => {
        const candidates = await candidatesFor(LANGUAGES[language], buggy);
        const at = candidates.findIndex((candidate) => applied(buggy, candidate) === fixed);
        assert.ok(at >= 0, `not among ${candidates.length} candidates`);
        assert.equal(candidates[at]?.template, template);
        assert.ok(at < within, `rank ${at + 1} of ${candidates.length}, wanted within ${within}`);
      });
    }
  });
}

/** One test per row: the template never proposes that text. */
export function never(template: string, rows: readonly (readonly [Short, string, string])[]): void {
  describe(`${template}: never`, () => {
    for (const [language, buggy, wrong] of rows) {
      it(`${language}: ${oneLine(buggy)}  ->  ${oneLine(wrong)}`, async () => {
        const texts = await proposals(template, [language, buggy]);
        assert.ok(!texts.includes(wrong));
      });
    }
  });
}

function oneLine(text: string): string {
  return text.replaceAll("\n", "⏎");
}
