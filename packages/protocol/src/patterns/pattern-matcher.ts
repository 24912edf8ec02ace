/** Matches whole texts against a pattern, in time linear in the text, whatever the pattern holds. */
import { compileAutomaton } from "./automaton.ts";
import type { Part, Pattern, TextMatcher } from "./pattern.ts";

/**
 * Regular expressions are fast, but may try all ways in which a text can be divided among the runs of a pattern: they
 * are asked about texts that are short enough for all of these, an automaton about the others.
 * *Contract:* throws a `SyntaxError` where a class is none. What it returns is total, in time linear in the text.
 */
export function patternMatcher(pattern: Pattern): TextMatcher {
  const longest = longestTried(pattern);
  if (longest === 0) return compileAutomaton(pattern);
  const expression = new RegExp(`^${sourceOf(pattern)}$`, "su");
  let automaton: TextMatcher | undefined;
  return (of) => {
    if (of.length <= longest) return expression.test(of);
    automaton ??= compileAutomaton(pattern);
    return automaton(of);
  };
}

/** Ways that may be tried of one text: less than a millisecond. */
const mostWays = 2 ** 17;
/** A path has no more. */
const maxLength = 4_096;
const minLength = 8;

function longestTried(pattern: Pattern): number {
  for (let length = maxLength; length >= minLength; length = Math.floor(length * 0.75)) {
    if (waysOf(pattern, length) <= mostWays) return length;
  }
  return 0;
}

function waysOf(pattern: Pattern, length: number): number {
  return pattern.reduce((ways, part) => ways * waysOfPart(part, length), 1);
}

function waysOfPart(part: Part, length: number): number {
  if (part.type === "many") return length;
  return part.type === "either" ? part.of.reduce((sum, choice) => sum + waysOf(choice, length), 0) : 1;
}

function sourceOf(pattern: Pattern): string {
  return pattern.map(partSource).join("");
}

function partSource(part: Part): string {
  switch (part.type) {
    case "text":
      return part.text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
    case "one":
      return part.of;
    case "many":
      return `${part.of}*`;
    case "either":
      return `(?:${part.of.map(sourceOf).join("|")})`;
  }
}
