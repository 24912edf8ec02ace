/** Whether lines say enough to be recognised where they are not found letter by letter. */

const least = 8;

/** About eight characters that are not spaces, and a word. */
export function isInformative(lines: readonly string[]): boolean {
  const text = lines.join("").replaceAll(/\s+/g, "");
  return text.length >= least && /\p{L}{2}|[\p{L}_$][\p{L}\p{N}_$]/u.test(text);
}
