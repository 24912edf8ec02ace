/** Script of: words as one line of shell. */

const plain = /^[\w@%+=:,./-]+$/u;

export function scriptOf(words: readonly string[]): string {
  return words.map((word) => (plain.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)).join(" ");
}
