/** Globs over relative paths, with the meaning ripgrep gives them, as regular expressions. */

/**
 * `*` and `?` within a name, `**` across folders, `[ab]`, `{a,b}`. Without a slash it speaks of names at any depth;
 * `!` in front turns it round. (Ripgrep's own `-g` would also bring back files that .gitignore leaves out.)
 */
export function globMatcher(glob: string): (path: string) => boolean {
  const { isInverted, pattern } = readGlob(glob);
  const whole = new RegExp(`^${pattern}$`, "su");
  return (path) => whole.test(path) !== isInverted;
}

/** A glob that is not turned round, by what of a path it looks at: nothing but its name, its folder, or all of it. */
export interface GlobForm {
  readonly speaksOf: "names" | "folders" | "paths";
  /** Over the name, or over the path of anything in the folder; a regular expression that can stand among others. */
  readonly pattern: string;
}

/** Throws where it is none. */
export function globForm(glob: string): GlobForm {
  const { isInverted, isAnchored, body, pattern } = readGlob(glob);
  const name = isAnchored ? body.replace(/^\*\*\//, "") : body;
  const isDeep = !isAnchored || name !== body;
  // A span of characters may have the slash in it.
  const isName = isDeep && name !== "**" && !/\/|\[[!^]?\]?[^\]]*-/.test(name);
  const speaksOf = isInverted ? "paths" : isName ? "names" : body.endsWith("/**") ? "folders" : "paths";
  const own = speaksOf === "names" ? patternOf(name) : pattern;
  return { speaksOf, pattern: `(?:${new RegExp(own, "su").source})` };
}

interface ReadGlob {
  readonly isInverted: boolean;
  /** It is told from the root, and speaks not of names at any depth. */
  readonly isAnchored: boolean;
  readonly body: string;
  readonly pattern: string;
}

function readGlob(glob: string): ReadGlob {
  const isInverted = glob.startsWith("!");
  const given = (isInverted ? glob.slice(1) : glob).replace(/^\.\//, "");
  const isAnchored = given.includes("/");
  // A glob that names a folder means what is in it.
  const body = given.replace(/^\//, "").replace(/\/$/, "/**");
  return { isInverted, isAnchored, body, pattern: `${isAnchored ? "" : "(?:.*/)?"}${patternOf(body)}` };
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
