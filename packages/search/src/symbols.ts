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
  type SyntaxDefinition,
} from "@lathe/protocol";
import { definitionIn, definitionsOf, lineStarts } from "./definitions/definitions.ts";
import { kindOf, languageOf } from "./definitions/languages.ts";
import { textOf } from "./definitions/text-of.ts";

/** Lines with the name that are looked at. */
const looked = 5_000;
const lineChars = 200;

/** Files of an answer of which grammars are asked. */
const mostFiles = 24;

export interface Reach {
  find(pattern: string, limit: number): Promise<GrepResult | Failure>;
  /** *Contract:* what grammars say of a file as it is now; undefined when that is not known at once. */
  refined?(path: string): Promise<readonly SyntaxDefinition[] | undefined>;
}

export async function symbolsNamed(
  name: string,
  query: SymbolsQuery,
  { find, refined }: Reach,
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
  const quick = found.lines.map(({ path, line, text }) => ({
    isDefinition: definitionIn(languageOf(path), text)?.name === last,
    symbol: { path, line, name: last, text: text.trim().slice(0, lineChars) },
  }));
  const inFiles = refined ? await ofFiles(quick, refined) : noFiles;
  const [definitions, references]: [SymbolLine[], SymbolLine[]] = [[], []];
  for (const { isDefinition, symbol } of quick) {
    const known = inFiles.get(symbol.path);
    const exact = known?.find((one) => one.line === symbol.line && one.name === last);
    if (exact) definitions.push({ ...symbol, ...told(exact) });
    // Values and what else has a name only the expressions know; calls that look like methods, only the grammar.
    else (isDefinition && !isCall(known, symbol) ? definitions : references).push(symbol);
  }
  const { limit } = query;
  const more = found.more || definitions.length > limit || references.length > limit;
  const inCode = ({ path }: SymbolLine): number => (kindOf(path, languageOf(path)) === "code" ? 0 : 1);
  const ordered = definitions.toSorted((a, b) => inCode(a) - inCode(b)).slice(0, limit);
  const uses = references.toSorted((a, b) => inCode(a) - inCode(b)).slice(0, limit);
  const { lines: _, ...rest } = found;
  return { ...rest, definitions: ordered, references: uses, more };
}

export async function outlineOf(
  { root, path }: { readonly root: string; readonly path: string },
  limit: number,
  refined?: Reach["refined"],
): Promise<SymbolsResult | Failure> {
  let text: string;
  try {
    text = textOf(await readFile(join(root, path)));
  } catch (cause) {
    return failure("not-found", `${path} cannot be read: name a file, or give a name to look for.`, {
      cause,
    });
  }
  const starts = lineStarts(text);
  const lineAt = (line: number): string =>
    text
      .slice(starts[line - 1], starts[line] ?? text.length)
      .trimEnd()
      .slice(0, lineChars);
  const found = await refined?.(path);
  const exact = found ?? [];
  const quick = definitionsOf(text, starts, languageOf(path)).map(({ line, name }) => ({
    line: line + 1,
    name,
  }));
  const known = new Map(exact.map((one) => [`${one.line} ${one.name}`, one]));
  const others = quick.filter(
    ({ line, name }) =>
      !known.has(`${line} ${name}`) && !isCall(found, { path, line, name, text: lineAt(line) }),
  );
  const all = [...exact, ...others]
    .sort((a, b) => a.line - b.line)
    .map((one): SymbolLine => {
      const symbol = { path, line: one.line, name: one.name, text: lineAt(one.line) };
      return "kind" in one ? { ...symbol, ...told(one) } : symbol;
    });
  return {
    definitions: all.slice(0, limit),
    references: [],
    more: all.length > limit,
    leftOut: 0,
    skipped: [],
    binary: [],
    unsearched: [],
  };
}

type InFiles = ReadonlyMap<string, readonly SyntaxDefinition[]>;
const noFiles: InFiles = new Map();

/** Those that may define it first. */
async function ofFiles(
  quick: readonly { readonly isDefinition: boolean; readonly symbol: SymbolLine }[],
  refined: NonNullable<Reach["refined"]>,
): Promise<InFiles> {
  const ordered = quick.toSorted((a, b) => Number(b.isDefinition) - Number(a.isDefinition));
  const paths = [...new Set(ordered.map(({ symbol }) => symbol.path))].slice(0, mostFiles);
  const known = await Promise.all(paths.map(async (path) => [path, await refined(path)] as const));
  return new Map(known.flatMap(([path, all]) => (all ? [[path, all]] : [])));
}

function told({ endLine, kind, container }: SyntaxDefinition): Partial<SymbolLine> {
  return { endLine, kind, ...(container !== undefined && { container }) };
}

/**
 * A line of a script that reads like a method, where the grammar sees none: a call. In other languages what only the
 * expressions find is mostly there, in macros and behind conditions of a preprocessor.
 */
function isCall(known: readonly SyntaxDefinition[] | undefined, { path, text, name }: SymbolLine): boolean {
  return known !== undefined && languageOf(path) === "script" && text.includes(`${name}(`);
}

function escaped(name: string): string {
  return name.replaceAll(/[$?!~@-]/g, "\\$&");
}
