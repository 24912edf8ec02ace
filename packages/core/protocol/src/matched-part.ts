/** Matched part: the part of a matching line that is shown. */
import { wholeAt } from "./cut-text.ts";
import type { GrepLine, Span } from "./ports/search.ts";

/** Maximum characters of one line, and of those before the match. */
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
