/** Which files a search must leave out. */
import type { Rule } from "@lathe/protocol";
import { matchesPath, plainGlobs } from "../globs/glob.ts";

/**
 * Globs of what rules deny or ask for reading, told from the workspace, or from the root for an absolute `path`; without
 * braces and with every other character that is special in some globs escaped. `path` was allowed to be read: what speaks
 * of itself is settled and left away.
 */
export function unreadable(path: string, rules: readonly Rule[]): readonly string[] {
  const speaking = rules.filter(
    ({ verdict, kinds }) => verdict !== "allow" && (kinds?.includes("read") ?? true),
  );
  const globs = speaking.flatMap(({ target = "**" }) => plainGlobs(target));
  const isTold = path.startsWith("/") ? isToldFromRoot : isToldFromWorkspace;
  return [...new Set(globs.filter(isTold))].filter((glob) => !matchesPath(glob, path)).map(plain);
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
