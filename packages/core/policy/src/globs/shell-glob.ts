/** Globs in shell syntax: escapes, braces, and whether anything is left to expand. */

/** Maximum variants of one word; with more, its braces count as a star. */
const maxVariants = 256;
const longest = 4096;

/** A glob that matches only this text. */
export function escapeGlob(text: string): string {
  return text.replace(/[\\*?[\]{},]/gu, "\\$&");
}

/** The name that a glob without wildcards matches. */
export function unescapeGlob(glob: string): string {
  return glob.replace(/\\([\s\S])/gu, "$1");
}

export function hasWildcard(glob: string): boolean {
  return /[*?[]/u.test(glob.replace(/\\[\s\S]/gu, ""));
}

/** The brace-free globs that a shell makes of one with braces; a star if in doubt. */
export function expandBraces(glob: string): readonly string[] {
  if (!glob.includes("{")) return [glob];
  if (glob.length > longest) return [starred(glob)];
  const open = [glob];
  const done: string[] = [];
  for (let one = open.pop(); one !== undefined; one = open.pop()) {
    if (open.length + done.length > maxVariants) return [starred(glob)];
    const variants = firstGroup(one);
    if (variants) open.push(...variants.toReversed());
    else done.push(one);
  }
  return done;
}

function starred(glob: string): string {
  return `${glob.slice(0, glob.indexOf("{"))}*${glob.slice(glob.lastIndexOf("}") + 1)}`;
}

/** The variants of the first real group: `{a,b}`, or `{1..9}` as a star; `{a}` and `{a,` are literal. */
function firstGroup(glob: string): readonly string[] | undefined {
  for (let at = glob.indexOf("{"); at >= 0; at = glob.indexOf("{", at + 1)) {
    if (isEscaped(glob, at)) continue;
    const { end, commas } = groupAt(glob, at);
    if (end === undefined) continue;
    const [before, inner, rest] = [glob.slice(0, at), glob.slice(at + 1, end), glob.slice(end + 1)];
    if (commas.length === 0 && !inner.includes("..")) continue;
    if (commas.length === 0) return [`${before}*${rest}`];
    const bounds = [at, ...commas, end];
    return bounds.slice(1).map((bound, i) => before + glob.slice((bounds[i] ?? 0) + 1, bound) + rest);
  }
  return undefined;
}

function groupAt(glob: string, from: number): { readonly end?: number; readonly commas: readonly number[] } {
  const commas: number[] = [];
  let depth = 0;
  for (let at = from; at < glob.length; at++) {
    const char = glob[at];
    if (char === "\\") at++;
    else if (char === "{") depth++;
    else if (char === "," && depth === 1) commas.push(at);
    else if (char === "}" && --depth === 0) return { end: at, commas };
  }
  return { commas };
}

function isEscaped(glob: string, at: number): boolean {
  let slashes = 0;
  while (glob[at - slashes - 1] === "\\") slashes++;
  return slashes % 2 === 1;
}
