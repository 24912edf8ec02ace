/** Symbols: definitions and uses of a name, and the definitions in a file, from the files as they are. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import {
  type Failure,
  failure,
  type GrepResult,
  isFailure,
  type SymbolLine,
  type SymbolsQuery,
  type SymbolsResult,
} from "@lathe/protocol";
import { definitionIn, definitionsOf, lineStarts } from "./definitions/definitions.ts";
import { kindOf, languageOf } from "./definitions/languages.ts";

/** Lines with the name that are looked at. */
const looked = 5_000;
const lineChars = 200;

export type FindLines = (pattern: string, limit: number) => Promise<GrepResult | Failure>;

export async function symbolsNamed(
  name: string,
  query: SymbolsQuery,
  find: FindLines,
): Promise<SymbolsResult | Failure> {
  const last = name.split(/\.|::|->|#/).at(-1) ?? name;
  if (!/^[\p{L}\p{N}_$@~!?-]+$/u.test(last)) {
    return failure(
      "invalid-arguments",
      `${name} is not the name of a symbol: give one identifier, or use grep.`,
    );
  }
  const found = await find(`(?:^|[^\\w$])${escaped(last)}(?:$|[^\\w$])`, looked);
  if (isFailure(found)) return found;
  const definitions: SymbolLine[] = [];
  const references: SymbolLine[] = [];
  for (const { path, line, text } of found.lines) {
    const isDefinition = definitionIn(languageOf(path), text)?.name === last;
    (isDefinition ? definitions : references).push({
      path,
      line,
      name: last,
      text: text.trim().slice(0, lineChars),
    });
  }
  const { limit } = query;
  const more = found.more || definitions.length > limit || references.length > limit;
  const inCode = ({ path }: SymbolLine): number => (kindOf(path, languageOf(path)) === "code" ? 0 : 1);
  const ordered = definitions.toSorted((a, b) => inCode(a) - inCode(b)).slice(0, limit);
  const uses = references.toSorted((a, b) => inCode(a) - inCode(b)).slice(0, limit);
  return { definitions: ordered, references: uses, more, leftOut: found.leftOut };
}

export async function outlineOf(root: string, path: string, limit: number): Promise<SymbolsResult | Failure> {
  let text: string;
  try {
    text = await readFile(join(root, path), "utf8");
  } catch (cause) {
    return failure("not-found", `${path} cannot be read: name a file, or give a name to look for.`, {
      cause,
    });
  }
  const starts = lineStarts(text);
  const all = definitionsOf(text, starts, languageOf(path)).map(({ line, name }): SymbolLine => {
    const shown = text
      .slice(starts[line], starts[line + 1] ?? text.length)
      .trimEnd()
      .slice(0, lineChars);
    return { path, line: line + 1, name, text: shown };
  });
  return { definitions: all.slice(0, limit), references: [], more: all.length > limit, leftOut: 0 };
}

function escaped(name: string): string {
  return name.replaceAll(/[$?!~@-]/g, "\\$&");
}
