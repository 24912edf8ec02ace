/** The replacement of a piece of text found letter by letter: written as it is, but for what a model often leaves out. */
import type { Document } from "./document/document.ts";
import type { Place } from "./place.ts";

interface Text {
  readonly old: string;
  readonly fresh: string;
}

export interface TextPlace {
  readonly place: Place;
  /** Set where the new text was not written as it is. */
  readonly warning?: string;
}

/** Undefined when the new text's indentation can be read in two ways. */
export function textPlace(document: Document, at: number, { old, fresh }: Text): TextPlace | undefined {
  const { text } = document;
  const end = at + old.length;
  const from = document.lineAt(at) - 1;
  const to = document.lineAt(Math.max(at, end - 1));
  const lineStart = text.lastIndexOf("\n", at - 1) + 1;
  const lead = text.slice(lineStart, at);
  // A blank line that follows takes the place of the missing newline.
  const isFollowed = end < text.length && text[end] !== "\n";
  if (isLeftJoined({ old, fresh }, lead, isFollowed)) {
    const warning = "`new` had no newline at its end where `old` had one: the next line was kept apart.";
    return { place: { from, to, start: at, end, new: `${fresh}\n` }, warning };
  }
  const shifted = lead !== "" && lead.trim() === "" ? shiftedLines(lead, { old, fresh }) : fresh;
  if (shifted === undefined) return undefined;
  const place = { from, to, start: at, end, new: shifted };
  return shifted === fresh
    ? { place }
    : { place, warning: "the lines of `new` were indented as the first one stands." };
}

/** Whole lines whose replacement would draw the line after them up. */
function isLeftJoined({ old, fresh }: Text, lead: string, isFollowed: boolean): boolean {
  return isFollowed && lead.trim() === "" && old.endsWith("\n") && fresh !== "" && !fresh.endsWith("\n");
}

/**
 * `old` is one line without its indentation `lead`; `new` has more lines, which are meant either from the margin or
 * from where `old` stands. The first pair of lines tells which.
 */
function shiftedLines(lead: string, { old, fresh }: Text): string | undefined {
  const [first = "", ...rest] = fresh.split("\n");
  const second = rest.find((line) => line.trim() !== "");
  if (old.trimEnd().includes("\n") || second === undefined || /^\s/.test(first)) return fresh;
  switch (marginOf({ lead, first, second, rest, closes: closesMore(fresh) })) {
    case "file":
      return fresh;
    case "first-line":
      return [first, ...rest.map((line) => (line.trim() === "" ? line : lead + line))].join("\n");
    case "unclear":
      return undefined;
  }
}

interface Lines {
  readonly lead: string;
  readonly first: string;
  readonly second: string;
  readonly rest: readonly string[];
  /** It closes brackets that it did not open. */
  readonly closes: boolean;
}

/** What the lines after the first one are indented from. */
function marginOf({ lead, first, second, rest, closes }: Lines): "file" | "first-line" | "unclear" {
  if (closes || outward.test(second.trim())) return "file";
  const depths = rest.filter((line) => line.trim() !== "").map(depthOf);
  if (Math.min(...depths) >= lead.length) {
    // The second line stands deeper than the first if the first goes on in it.
    const goesOn = goingOn.test(first.trimEnd()) || /^(?:\?\.|[.?:&|+*<>=-])/.test(second.trim());
    return depthOf(second) > lead.length || !goesOn ? "file" : "first-line";
  }
  const isOpen = /[{([:]$/.test(first.trimEnd());
  if (isOpen && depthOf(second) === 0 && !/^[})\]]/.test(second)) return "unclear";
  // A definition at the margin would leave the block.
  return !isOpen && rest.some((line) => declaration.test(line)) ? "unclear" : "first-line";
}

/** A line that stands further out than the one before it. */
const outward =
  /^(?:else|elif|except|finally|catch|case|default|end|when|rescue|ensure|elsif|esac|fi|done)\b/;
const goingOn = /(?:[{([:,=+&|?\\]|=>|->|^(?:if|for|while|else if|elif|else|with)\b.*\)|^else)$/;
const declaration =
  /^(?:async |export |public |private |static )*(?:def|class|function|func|fn|impl|interface|import|from)\b|^@/;

function depthOf(line: string): number {
  return /^[ \t]*/.exec(line)?.[0].length ?? 0;
}

function closesMore(text: string): boolean {
  let depth = 0;
  for (const character of text) {
    if ("{([".includes(character)) depth++;
    if ("})]".includes(character) && --depth < 0) return true;
  }
  return false;
}
