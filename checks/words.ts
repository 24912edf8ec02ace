/** Phrases that papers for people do not use, each with the plain form; a net, while the goal is plain English. */

/** A pattern and what to say instead. */
export interface Phrase {
  readonly pattern: RegExp;
  readonly say: string;
}

export interface Finding {
  readonly line: number;
  readonly text: string;
  readonly say: string;
}

export const phrases: readonly Phrase[] = [
  { pattern: /\bgo(?:es)? on with\b|\bgone on with\b|\btake(?:n|s)? up again\b/i, say: "resume, continue" },
  { pattern: /\bin no commit\b/i, say: "uncommitted changes" },
  { pattern: /\bunasked\b/i, say: "without asking" },
  { pattern: /\bmend(?:s|ed|ing)?\b/i, say: "fix" },
  { pattern: /\bsomebody\b|\bwhoever\b/i, say: "name the person or the program" },
  { pattern: /\bput back\b(?! into)/i, say: "restore, revert" },
  { pattern: /\b(?:files?|folders?|it|they) (?:lie|lies) (?:in|below|there)\b/i, say: "is in" },
  { pattern: /\bbe cut short as long as\b/i, say: "any unique prefix" },
  { pattern: /\bfor good\b/i, say: "saved rule" },
  { pattern: /\bhave a say\b|\bhas a say\b/i, say: "hooks, extensions" },
  { pattern: /\bis said of\b|\bare told of\b|\bit is told\b/i, say: "say who tells whom" },
  { pattern: /\bmade shorter\b/i, say: "compact" },
];

export function findPhrases(text: string): readonly Finding[] {
  return text.split("\n").flatMap((line, at) => {
    const prose = line.replace(/`[^`]*`/g, "");
    return phrases.flatMap(({ pattern, say }) => {
      const found = pattern.exec(prose)?.[0];
      return found === undefined ? [] : [{ line: at + 1, text: found, say }];
    });
  });
}
