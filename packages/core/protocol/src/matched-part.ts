/** Matched part: what is shown of a line that a pattern matched in. */
import { wholeAt } from "./cut-text.ts";
import type { GrepLine, Span } from "./ports/search.ts";

/** Characters kept of one line, and of it before the match. */
const lineChars = 500;
const leadChars = 150;

/** The part of a very long line around its first match. */
export function matchedPart(line: string, spans: readonly Span[]): Pick<GrepLine, "text" | "spans"> {
  if (line.length <= lineChars) return { text: line, spans };
  const first = Math.max(0, Math.min((spans[0]?.[0] ?? 0) - leadChars, line.length - lineChars));
  const from = wholeAt(line, first);
  const end = wholeAt(line, first + lineChars);
  const lead = from > 0 ? "..." : "";
  const shift = lead.length - from;
  return {
    text: `${lead}${line.slice(from, end)}${end < line.length ? "..." : ""}`,
    spans: spans
      .filter(([start]) => start < end)
      .map(([start, to]) => [start + shift, Math.min(to, end) + shift]),
  };
}
