/** Fold case: names that a disk without case takes for the same become the same. */

export function foldCase(name: string): string {
  // Some letters have a capital of ASCII only: a long s, the sign for kelvin.
  return /^[ -~]*$/u.test(name) ? name.toLowerCase() : name.normalize("NFC").toUpperCase().toLowerCase();
}
