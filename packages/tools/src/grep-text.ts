/** Greps a text that is no file: the whole of an output that was shown in part. */
import { createContext, Script } from "node:vm";
import { type Failure, failure, type GrepLine } from "@lathe/protocol";
import { linesOf } from "./numbered-lines.ts";

/** A pattern that takes longer than this goes in circles. */
const patienceMs = 2_000;
/** Longer lines are searched as far as this. */
const lineChars = 10_000;

export interface TextQuery {
  readonly pattern: string;
  readonly literal: boolean;
  readonly ignoreCase: boolean;
  /** Lines around each match. */
  readonly context: number;
  readonly limit: number;
}

export interface TextMatches {
  readonly lines: readonly Omit<GrepLine, "path">[];
  readonly more: boolean;
}

export function grepText(text: string, query: TextQuery): TextMatches | Failure {
  const lines = linesOf(text).map((line) => line.slice(0, lineChars));
  const found = matchingLines(lines, query);
  if (!Array.isArray(found)) return found;
  const wanted = found.slice(0, query.limit);
  const matches = new Set(wanted);
  const near = new Set(wanted.flatMap((at) => around(at, query.context, lines.length)));
  return {
    lines: [...near]
      .sort((a, b) => a - b)
      .map((at) => ({ line: at + 1, text: lines[at] ?? "", match: matches.has(at) })),
    more: found.length > wanted.length,
  };
}

function around(at: number, context: number, length: number): readonly number[] {
  const first = Math.max(0, at - context);
  return Array.from({ length: Math.min(length - 1, at + context) - first + 1 }, (_, i) => first + i);
}

/** Indexes of lines, one more than the limit at most. A pattern is a model's: it is run where it can be stopped. */
function matchingLines(
  lines: readonly string[],
  { pattern, literal, ignoreCase, limit }: TextQuery,
): number[] | Failure {
  const source = literal ? pattern.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&") : pattern;
  const inline = /^\(\?i\)/.test(source);
  const flags = ignoreCase || inline ? "i" : "";
  try {
    const given = {
      lines,
      source: source.replace(/^\(\?i\)/, ""),
      flags,
      most: limit + 1,
      found: [] as number[],
    };
    new Script(
      `const test = new RegExp(source, flags);
       for (let at = 0; at < lines.length && found.length < most; at++) if (test.test(lines[at])) found.push(at);`,
    ).runInContext(createContext(given), { timeout: patienceMs });
    return given.found;
  } catch (cause) {
    const isSlow = (cause as NodeJS.ErrnoException).code === "ERR_SCRIPT_EXECUTION_TIMEOUT";
    const why = isSlow ? "it takes too long: make it simpler" : "it is not a valid regular expression";
    return failure("search-failed", `the pattern ${pattern} cannot be searched for: ${why}`, { cause });
  }
}
