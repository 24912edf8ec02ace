/** Globs without case, for those who know sets of characters but no such switch. */

/** `[` stands for a set, as after a backslash it does not. */
export function caselessGlob(glob: string): string {
  return glob.replace(/\\[\s\S]|\[[^\]]*\]|\p{L}/gu, (found) => {
    if (found.startsWith("\\")) return found;
    if (!found.startsWith("[")) return setOf(found);
    return `[${found.slice(1, -1).replace(/\p{L}/gu, bothCases)}]`;
  });
}

function setOf(letter: string): string {
  const both = bothCases(letter);
  return both.length === 2 ? `[${both}]` : letter;
}

function bothCases(letter: string): string {
  const [lower, upper] = [letter.toLowerCase(), letter.toUpperCase()];
  return lower === upper || lower.length + upper.length > 2 ? letter : `${lower}${upper}`;
}
