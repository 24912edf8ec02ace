/** The files that a search must exclude. */
import type { Rule } from "@lathe/protocol";
import { matchesPath, plainGlobs } from "../globs/glob.ts";
import { withoutEndings } from "../globs/without-endings.ts";

/**
 * Globs that rules deny or ask about for reading, relative to the workspace, or to the root for an absolute
 * `path`. All other special glob characters are escaped. Braces and character sets occur only if a rule has
 * exceptions or ignores case. `path` itself was allowed, so rules that match it are left out.
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

/** A glob from the root or the home folder matches no workspace-relative path. */
function isToldFromWorkspace(glob: string): boolean {
  return !/^[/~$]/u.test(glob);
}

/** A glob from the workspace matches nothing outside it. */
function isToldFromRoot(glob: string): boolean {
  return /^(?:\/|\*\*\/)/u.test(glob) || !glob.includes("/");
}

function plain(glob: string): string {
  return glob.replace(/\\.|[[\]{}]|^!/gu, (found) => (found.length > 1 ? found : `\\${found}`));
}

/** `[` marks a set, except after a backslash. */
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
