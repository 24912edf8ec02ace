/** Fold case: maps names that a case-insensitive disk treats as equal to the same text. */

export function foldCase(name: string): string {
  // Some letters have an ASCII capital: the long s, and the kelvin sign.
  return /^[ -~]*$/u.test(name) ? name.toLowerCase() : name.normalize("NFC").toUpperCase().toLowerCase();
}
