/** The texts looked up for a script so far, and those still needed. */
import type { Script } from "./script.ts";

const longest = 200_000;

/** Measured with 8,000 of each: parsing takes seconds, or the parser fails. */
const costly: readonly (readonly [pattern: RegExp, most: number])[] = [
  [/\|/gu, 3_000],
  [/<</gu, 400],
  [/=\(/gu, 600],
  [/\$\[/gu, 400],
];

export interface KnownTexts {
  /** Texts after parsing. */
  readonly scripts: ReadonlyMap<string, Script>;
  /** Texts of files by the requested path; undefined if missing or too large. */
  readonly files: ReadonlyMap<string, string | undefined>;
  /** Those that exist but could not be read as text. */
  readonly unreadFiles?: ReadonlySet<string>;
  /** Git's aliases; absent until they are looked up. */
  readonly gitAliases?: Readonly<Record<string, string>> | undefined;
}

export interface WantedTexts {
  readonly scripts: Set<string>;
  readonly files: Set<string>;
  gitAliases: boolean;
  /** The texts of files that the verdict depends on. */
  readonly reads: TextRead[];
  /** Number of calls found so far. */
  calls: number;
}

/** The text of a file, and how many calls precede the request. */
export interface TextRead {
  readonly path: string;
  readonly at: number;
}

export const nothingKnown: KnownTexts = { scripts: new Map(), files: new Map() };

export function wants(): WantedTexts {
  return { scripts: new Set(), files: new Set(), gitAliases: false, reads: [], calls: 0 };
}

export function isWanting({ scripts, files, gitAliases }: WantedTexts): boolean {
  return scripts.size + files.size > 0 || gitAliases;
}

/** The text of a file by its path, once it has been looked up. */
export function knownText(
  path: string,
  { known, wanted }: { readonly known: KnownTexts; readonly wanted: WantedTexts },
): string | undefined {
  if (!known.files.has(path)) wanted.files.add(path);
  wanted.reads.push({ path, at: wanted.calls });
  return known.files.get(path);
}

/** A parsed text; requests it until it is available. */
export function scriptOf(
  text: string,
  { known, wanted }: { readonly known: KnownTexts; readonly wanted: WantedTexts },
): Script | undefined {
  const script = known.scripts.get(text);
  if (!script && isReadable(text)) wanted.scripts.add(text);
  return script;
}

/** Whether a parser can read the script quickly: some repetitions take it quadratic time. */
function isReadable(text: string): boolean {
  if (text.length > longest) return false;
  return costly.every(([pattern, most]) => (text.match(pattern)?.length ?? 0) <= most);
}
