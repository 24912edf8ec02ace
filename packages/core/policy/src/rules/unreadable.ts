/** Which files a search must leave out. */
import type { Rule } from "@lathe/protocol";
import { matchesPath, plainGlobs } from "../globs/glob.ts";
import { withoutEndings } from "../globs/without-endings.ts";

/**
 * Globs of what rules deny or ask for reading, told from the workspace, or from the root for an absolute `path`; with every
 * other character that is special in some globs escaped, and braces and sets of characters only where a rule has exceptions
 * or is without case. `path` was allowed to be read: what speaks of itself is settled and left away.
 */
export function unreadable(path: string, rules: readonly Rule[]): readonly string[] {
  const speaking = rules.filter(
    ({ verdict, kinds }) => verdict !== "allow" && (kinds?.includes("read") ?? true),
  );
  return [...new Set(speaking.flatMap((rule) => closedBy(rule, path)))];
}

function closedBy({ target = "**", except, ignoreCase }: Rule, path: string): readonly string[] {
  const isTold = path.startsWith("/") ? isToldFromRoot : isToldFromWorkspace;
  const cased = (text: string): string => (ignoreCase ? text.toLowerCase() : text);
  const exceptions = except === undefined ? [] : plainGlobs(except).map(plain);
  return plainGlobs(target)
    .filter((glob) => isTold(glob) && !matchesPath(cased(glob), cased(path)))
    .flatMap((glob) => withoutEndings(plain(glob), exceptions))
    .map((glob) => (ignoreCase ? caselessGlob(glob) : glob));
}

/** A glob from the root or the home does not speak of paths as they are told here. */
function isToldFromWorkspace(glob: string): boolean {
  return !/^[/~$]/u.test(glob);
}

/** Nor does one from the workspace speak of what lies outside. */
function isToldFromRoot(glob: string): boolean {
  return /^(?:\/|\*\*\/)/u.test(glob) || !glob.includes("/");
}

function plain(glob: string): string {
  return glob.replace(/\\.|[[\]{}]|^!/gu, (found) => (found.length > 1 ? found : `\\${found}`));
}

/** `[` stands for a set, as after a backslash it does not. */
function caselessGlob(glob: string): string {
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
