/** Globs over relative paths, with the meaning ripgrep gives them, as regular expressions. */

/**
 * `*` and `?` within a name, `**` across folders, `[ab]`, `{a,b}`. Without a slash it speaks of names at any depth;
 * `!` in front turns it round. (Ripgrep's own `-g` would also bring back files that .gitignore leaves out.)
 */
export function globMatcher(glob: string): (path: string) => boolean {
  const inverted = glob.startsWith("!");
  const body = (inverted ? glob.slice(1) : glob).replace(/^\.\//, "");
  const anchored = body.includes("/");
  // A glob that names a folder means what is in it.
  const pattern = patternOf(body.replace(/^\//, "").replace(/\/$/, "/**"));
  const whole = new RegExp(`^${anchored ? "" : "(?:.*/)?"}${pattern}$`, "su");
  return (path) => whole.test(path) !== inverted;
}

/** A glob over names only that matches every file the glob matches, or more; undefined when there is none. */
export function nameGlob(glob: string): string | undefined {
  const name = glob.slice(glob.lastIndexOf("/") + 1);
  const split = /\{[^}]*\/|\/[^{]*\}/.test(glob);
  if (split || glob.startsWith("!") || name === "" || name.includes("**")) return undefined;
  // To ripgrep's types a character is a byte.
  return name.replaceAll(/(\\.)|\?|\[[!^]?\]?[^\]]*\]/gsu, (_, quoted?: string) => quoted ?? "*");
}

/** Whether a bracket in it is not closed: to ripgrep that is no glob. */
export function hasOpenBracket(glob: string): boolean {
  return glob.replaceAll(/\\.|\[[!^]?\]?[^\]]*\]/gsu, "").includes("[");
}

const alternatives: Readonly<Record<string, string>> = { "{": "(?:", "}": ")", ",": "|" };
/** `**` speaks of folders only where it stands alone between slashes; elsewhere it is `*`. */
const tokens = /(?<![^/])\*\*\/|\/\*\*$|\*+|\?|\[[!^]?\]?[^\]/]*\]|\{|\}|,|\\.|[^*?[\]{},\\/]+|./gsu;
const meanings: Readonly<Record<string, string>> = { "**/": "(?:.*/)?", "/**": "/.*", "?": "[^/]" };

function patternOf(glob: string): string {
  if (glob === "**") return ".*";
  let depth = 0;
  return glob.replaceAll(tokens, (token) => {
    if (token === "{") depth++;
    const inside = depth > 0;
    if (token === "}" && inside) depth--;
    return (inside ? alternatives[token] : undefined) ?? meanings[token] ?? tokenPattern(token);
  });
}

function tokenPattern(token: string): string {
  if (token.startsWith("*")) return "[^/]*";
  if (token.length > 1 && token.startsWith("\\")) return escaped(token.slice(1));
  if (token.length < 3 || !token.startsWith("[")) return escaped(token);
  const negated = /^\[[!^]/.test(token);
  const set = token.slice(negated ? 2 : 1, -1).replaceAll(/[[\\\]^&~]/g, "\\$&");
  // Not even a negated set reaches across folders.
  return negated ? `[^/${set}]` : `[${set}]`;
}

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}
