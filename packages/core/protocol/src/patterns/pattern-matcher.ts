/** Matches whole texts against a pattern, in time linear in the text for any pattern. */
import { compileAutomaton } from "./automaton.ts";
import type { Part, Pattern, TextMatcher } from "./pattern.ts";

/**
 * Regular expressions are fast, but may try all ways to divide a text among the runs of a pattern. They match
 * texts that are short enough for that; an automaton matches the others. *Contract:* throws a `SyntaxError`
 * for an invalid class. The returned matcher is total, in time linear in the text.
 */
export function patternMatcher(pattern: Pattern): TextMatcher {
  const longest = longestTried(pattern);
  const required = requiredText(pattern);
  const expression = new RegExp(`^${sourceOf(pattern)}$`, "su");
  let automaton: TextMatcher | undefined;
  return (of) => {
    // Most texts lack the required text, and an expression is only compiled on its first use.
    if (!of.includes(required)) return false;
    if (of.length <= longest) return expression.test(of);
    automaton ??= compileAutomaton(pattern);
    return automaton(of);
  };
}

/** The longest text that every match contains; it may be empty. */
function requiredText(pattern: Pattern): string {
  let longest = "";
  for (const part of pattern)
    if (part.type === "text" && part.text.length > longest.length) longest = part.text;
  return longest;
}

/** Maximum number of ways to try for one text: less than a millisecond. */
const maxWays = 2 ** 17;
/** The maximum length of a path. */
const maxLength = 4_096;
const minLength = 8;

function longestTried(pattern: Pattern): number {
  const { choices, runs } = waysOf(pattern);
  const longest = runs === 0 ? maxLength : Math.floor((maxWays / choices) ** (1 / runs));
  return longest < minLength || choices > maxWays ? 0 : Math.min(longest, maxLength);
}

/** A text of at least `minLength` can be divided in at most `choices * length ** runs` ways. */
interface Ways {
  readonly choices: number;
  readonly runs: number;
}

function waysOf(pattern: Pattern): Ways {
  let [choices, runs] = [1, 0];
  for (const part of pattern) {
    const ways = waysOfPart(part);
    choices *= ways.choices;
    runs += ways.runs;
  }
  return { choices, runs };
}

function waysOfPart(part: Part): Ways {
  if (part.type !== "either") return { choices: 1, runs: part.type === "many" ? 1 : 0 };
  const all = part.of.map(waysOf);
  const runs = Math.max(0, ...all.map((ways) => ways.runs));
  // Fewer runs divide a text in fewer ways, especially a long one.
  const choices = all.reduce((sum, ways) => sum + ways.choices / minLength ** (runs - ways.runs), 0);
  return { choices, runs };
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
