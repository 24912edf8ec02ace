/** Quotes text as one word of a POSIX shell script. */

export function quoteWord(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** Unchanged if a shell takes it as one literal word; a program's name with `=` is an assignment. */
export function quoteWordIfNeeded(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : quoteWord(text);
}
