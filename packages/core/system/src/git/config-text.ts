/** Reads git's settings exactly as git does, so that none is overlooked. */

export interface Setting {
  /** Section and key in lower case, without the subsection: `remote.url`. */
  readonly name: string;
  /** The quoted text after the section's name. */
  readonly part: string | undefined;
  /** Undefined for a key without a value, which means true. */
  readonly value: string | undefined;
  /** Its position, from the space before it to the end of its line. */
  readonly from: number;
  readonly to: number;
  /** The index of its section head. */
  readonly head: number;
}

export interface Head {
  readonly name: string;
  readonly part: string | undefined;
  readonly from: number;
  readonly to: number;
}

export interface ConfigText {
  readonly settings: readonly Setting[];
  readonly heads: readonly Head[];
}

const space = /(?:[ \t\n]+|[#;][^\n]*)/uy;
const head = /\[([A-Za-z0-9.-]+)(?:[ \t]+"((?:[^"\\\n]|\\[^\n])*)")?\]/uy;
const key = /([A-Za-z][A-Za-z0-9-]*)[ \t]*(=?)/uy;
const piece = /[^"\\\n#;]+|"|\\[tbn\\"\n]/uy;
const quotedPiece = /[^"\\\n]+|"|\\[tbn\\"\n]/uy;
const comment = /[#;][^\n]*/uy;
const escapes: Readonly<Record<string, string>> = {
  t: "\t",
  b: "\b",
  n: "\n",
  "\\": "\\",
  '"': '"',
  "\n": "",
};

/** *Contract:* undefined for text that git would refuse, and for bytes that no settings need. */
export function parseGitConfig(text: string): ConfigText | undefined {
  if (/[\0\r]/u.test(text)) return undefined;
  const settings: Setting[] = [];
  const heads: Head[] = [];
  for (let at = 0; at < text.length; ) {
    const blank = matchAt(space, text, at);
    if (blank) {
      at += blank[0].length;
      continue;
    }
    const opened = matchAt(head, text, at);
    const setting = opened ? undefined : settingAt(text, at, heads);
    if (opened) heads.push(headOf(opened, at));
    else if (setting) settings.push(setting);
    else return undefined;
    at = (setting ?? heads.at(-1))?.to ?? text.length;
  }
  return { settings, heads };
}

/**
 * The last value of each setting without a subsection, by name. *Contract:* undefined for text that git would
 * refuse.
 */
export function plainSettings(text: string): ReadonlyMap<string, string> | undefined {
  const settings = parseGitConfig(text.replaceAll("\r\n", "\n"))?.settings;
  return (
    settings &&
    new Map(settings.flatMap(({ name, part, value = "true" }) => (part === undefined ? [[name, value]] : [])))
  );
}

function headOf([all, name = "", part]: RegExpExecArray, from: number): Head {
  const [section = "", ...rest] = name.toLowerCase().split(".");
  const parts = [...rest, ...(part === undefined ? [] : [part.replaceAll(/\\(.)/gu, "$1")])];
  return {
    name: section,
    part: parts.length > 0 ? parts.join(".") : undefined,
    from,
    to: from + all.length,
  };
}

function settingAt(text: string, at: number, heads: readonly Head[]): Setting | undefined {
  const found = matchAt(key, text, at);
  const under = heads.at(-1);
  if (!found || !under) return undefined;
  const [all, name = "", equals] = found;
  const after = at + all.length;
  const isBare = equals === "" && (after === text.length || text[after] === "\n");
  const read = equals === "" ? { value: undefined, end: after } : valueAt(text, after);
  if (!read || (equals === "" && !isBare)) return undefined;
  let from = at;
  while (from > under.to && /[ \t]/u.test(text[from - 1] ?? "")) from--;
  return {
    name: `${under.name}.${name.toLowerCase()}`,
    part: under.part,
    value: read.value,
    from,
    to: Math.min(read.end + 1, text.length),
    head: heads.length - 1,
  };
}

/** Reads up to the end of the line, which a backslash extends; not inside a comment. */
function valueAt(text: string, from: number): { readonly value: string; readonly end: number } | undefined {
  let value = "";
  let isQuoted = false;
  let at = from;
  for (;;) {
    const found = matchAt(isQuoted ? quotedPiece : piece, text, at)?.[0];
    if (found === undefined) break;
    at += found.length;
    if (found === '"') isQuoted = !isQuoted;
    else value += found.startsWith("\\") ? escapes[found.slice(1)] : found;
  }
  if (isQuoted) return undefined;
  const end = at + (matchAt(comment, text, at)?.[0].length ?? 0);
  return end === text.length || text[end] === "\n" ? { value: value.trim(), end } : undefined;
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}
