/** Sections: the text of a summary under each of its headings. */

/** The sections of a summary, in this order. */
export const headings = [
  "Task and constraints",
  "Decisions",
  "State of the work",
  "Files touched",
  "Open failures",
  "Next step",
] as const;

export type Heading = (typeof headings)[number];

interface Found {
  readonly heading: Heading;
  readonly level: number;
  readonly line: number;
  /** The rest of its line. */
  readonly rest: string;
}

/**
 * Omits missing and empty sections. Other headings, and text in fences, belong to the section around them.
 */
export function sectionsOf(text: string): ReadonlyMap<Heading, string> {
  const lines = unwrapped(text.trim().split(/\r?\n/));
  const fenced = fencedLines(lines);
  const found = lines.flatMap((line, at): readonly Found[] => {
    const one = fenced.has(at) ? undefined : headingOf(line);
    return one ? [{ ...one, line: at }] : [];
  });
  // A section may contain a lower heading with another section's title; the highest level wins.
  const own = headings.flatMap((heading) => {
    const [first] = found.filter((one) => one.heading === heading).toSorted((a, b) => a.level - b.level);
    return first ? [first] : [];
  });
  return new Map(
    own.flatMap(({ heading, line, rest }) => {
      const end = Math.min(...own.map((one) => one.line).filter((at) => at > line), lines.length);
      const words = [rest, ...lines.slice(line + 1, end)].join("\n").trim();
      return words === "" ? [] : [[heading, words] as const];
    }),
  );
}

/** Recognizes any style: numbered, bold, with a colon, plural, in capitals. */
function headingOf(line: string): Omit<Found, "line"> | undefined {
  const mark = /^ {0,3}(#{1,6})\s[\s*_]*(?:\d+[.):]?\s+)?[\s*_]*/.exec(line);
  const words = line.slice(mark?.[0].length);
  const heading = headings.find((one) => words.toLowerCase().startsWith(one.toLowerCase()));
  if (!mark?.[1] || !heading) return undefined;
  const behind = /^s?[\s*_#]*(?:(?::|\s[–—-]\s)[\s*_]*(.*)|(\(.*))?$/i.exec(words.slice(heading.length));
  return behind ? { heading, level: mark[1].length, rest: behind[1] ?? behind[2] ?? "" } : undefined;
}

const fence = /^\s*(`{3,}|~{3,})(.*)$/;

/** Without a fence around the whole text. */
function unwrapped(lines: readonly string[]): readonly string[] {
  const isWhole = /^(?:`{3,}|~{3,})\s*(?:markdown|md)?\s*$/i.test(lines[0] ?? "");
  const last = fence.exec(lines.at(-1) ?? "");
  return isWhole && last?.[2]?.trim() === "" && lines.length > 1 ? lines.slice(1, -1) : lines;
}

/** Which lines are in fences; an unclosed fence does not count. */
function fencedLines(lines: readonly string[]): ReadonlySet<number> {
  const fenced = new Set<number>();
  for (let at = 0; at < lines.length; at++) {
    const mark = fence.exec(lines[at] ?? "")?.[1];
    const end = mark === undefined ? -1 : lines.findIndex((line, i) => i > at && closes(line, mark));
    for (; at < end; at++) fenced.add(at);
  }
  return fenced;
}

function closes(line: string, mark: string): boolean {
  const [, own = "", info = ""] = fence.exec(line) ?? [];
  return own.startsWith(mark) && info.trim() === "";
}
