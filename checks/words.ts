/** Phrases that text for people does not use, each with the plain form. It is a net; the goal is plain English. */
import { parseSync, Visitor } from "oxc-parser";

export interface Finding {
  readonly line: number;
  readonly text: string;
  readonly say: string;
}

/** Regular expressions in which a space matches any white space, and the plain form. */
export const phrases: readonly (readonly [phrase: string, say: string])[] = [
  ["nobody", "no one, no process, no client: name who"],
  ["somebody", "a person, another process: name who"],
  ["whoever", "the caller, the client: name who"],
  ["go(es)? on|going on|went on|gone on", "continue, resume"],
  ["(take(n|s)?|took) up(?! to) again|taken up", "resume"],
  ["(takes?|took|taken) back|put back(?! into)", "restore, revert, rewind"],
  ["mend(s|ed|ing)?", "fix"],
  ["a (yes|no)(?![-.\\w])", "approval, deny"],
  ["unasked", "without asking"],
  ["let happen", "allow"],
  ["to be heard|unheard", "queued"],
  ["(files?|folders?|it|they|that) (lie|lies|lay) (in|below|there|beside)", "is in"],
  ["(has|have|having) (a|their|its) say", "run during, decide"],
  ["in (your|their|its|his) stead", "instead of"],
  ["in no commit", "uncommitted"],
  ["be cut short as long as", "any unique prefix"],
  ["for good", "saved"],
  ["beforehand", "in advance"],
  ["cannot be told", "is unknown"],
  ["is said of|are told of|it is (told|said)", "say who tells whom"],
  ["made shorter", "compact"],
];

const patterns = phrases.map(([phrase, say]) => {
  return { pattern: new RegExp(`\\b(?:${phrase.replaceAll(" ", String.raw`\s+`)})\\b`, "gi"), say };
});

/** Of a page: code is left out, since it quotes names. */
export function findInPage(page: string): readonly Finding[] {
  const spans: Span[] = [];
  let at = 0;
  for (const code of page.matchAll(/^```[\s\S]*?^```|`[^`\n]*`/gm)) {
    spans.push([at, code.index]);
    at = code.index + code[0].length;
  }
  return findIn(page, [...spans, [at, page.length]]);
}

/** Of a source: its comments and its texts of more than one word, which names and codes are not. */
export function findInSource(file: string, source: string): readonly Finding[] {
  const { program, comments } = parseSync(file, source);
  const spans: Span[] = comments.map(({ start, end }) => [start, end]);
  const add = ({ start, end }: { readonly start: number; readonly end: number }): void => {
    if (/\s/.test(source.slice(start, end))) spans.push([start, end]);
  };
  new Visitor({
    Literal: (node) => {
      if (typeof node.value === "string") add(node);
    },
    TemplateElement: add,
  }).visit(program);
  return findIn(source, spans);
}

type Span = readonly [start: number, end: number];

function findIn(source: string, spans: readonly Span[]): readonly Finding[] {
  return spans.flatMap(([start, end]) => {
    // A phrase may continue on the next line of a comment.
    const text = source.slice(start, end).replace(/\n\s*(?:\*|\/\/)/g, (gap) => gap.replace(/[*/]/g, " "));
    return patterns.flatMap(({ pattern, say }) =>
      [...text.matchAll(pattern)].map((match) => ({
        line: source.slice(0, start + match.index).split("\n").length,
        text: match[0].replace(/\s+/g, " "),
        say,
      })),
    );
  });
}
