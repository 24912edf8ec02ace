/** Text as one word of a POSIX shell's script. */

export function quoteWord(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** As it is where a shell takes it for one word with no meaning of its own; a program's name with `=` is an assignment. */
export function quoteWordIfNeeded(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : quoteWord(text);
}
