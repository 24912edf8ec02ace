/** Symbols: definitions and uses of a name, and the definitions in a file, from the files as they are. */
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
import { readQuietly } from "./build/index-files.ts";
import { type Container, findContainer, isWithin, likelihood } from "./definitions/container.ts";
import { definitionIn, definitionsOf, lineStarts } from "./definitions/definitions.ts";
import { kindOf, languageOf } from "./definitions/languages.ts";
import { textOf } from "./definitions/text-of.ts";

/** Lines with the name that are looked at. */
const looked = 5_000;
const lineChars = 200;

const symbolName = /^[\p{L}\p{N}_$@~!?-]+$/u;

/** Files of an answer of which grammars are asked. */
const maxFiles = 24;

export interface SymbolSources {
  find(pattern: string, limit: number): Promise<GrepResult | Failure>;
  /** *Contract:* what grammars say of a file as it is now; undefined when that is not known at once. */
  refined?(path: string): Promise<readonly SyntaxDefinition[] | undefined>;
  /** *Contract:* the same, waited for; undefined when it takes too long. */
  soon?(path: string): Promise<readonly SyntaxDefinition[] | undefined>;
}

export async function symbolsNamed(
  name: string,
  query: SymbolsQuery,
  { find, ...reach }: SymbolSources,
): Promise<SymbolsResult | Failure> {
  const parts = name.split(/\.|::|->|#/).filter((part) => part !== "");
  const [within, last = name] = [parts.at(-2), parts.at(-1)];
  if (![last, within ?? last].every((part) => symbolName.test(part))) {
    return failure(
      "invalid-arguments",
      `${name} is not the name of a symbol: give one identifier, or use grep.`,
    );
  }
  const findWord = (word: string): ReturnType<SymbolSources["find"]> =>
    find(`(?:^|[^\\w$])${escaped(word)}(?:$|[^\\w$])`, looked);
  const found = await findWord(last);
  if (isFailure(found)) return found;
  const container = within === undefined ? undefined : await findContainer(within, findWord);
  if (container && isFailure(container)) return container;
  const quick = found.lines.map(({ path, line, text }) => ({
    isDefinition: definitionIn(languageOf(path), text)?.name === last,
    symbol: { path, line, name: last, text: text.trim().slice(0, lineChars) },
  }));
  const refined = container ? reach.soon : reach.refined;
  const inFiles = refined ? await ofFiles(quick, refined, container) : noFiles;
  const { definitions, references } = divided(quick, inFiles);
  const { limit } = query;
  const isElsewhere = (one: SymbolLine): boolean =>
    container !== undefined && !isWithin(container, one, inFiles.has(one.path));
  const isInNone = within !== undefined && definitions.length > 0 && definitions.every(isElsewhere);
  const { leftOut, skipped, binary, unsearched } = found;
  return {
    definitions: sorted(definitions, (one) => 2 * Number(isElsewhere(one)) + notInCode(one)).slice(0, limit),
    references: sorted(references, notInCode).slice(0, limit),
    more: found.more || definitions.length > limit || references.length > limit,
    leftOut,
    skipped,
    binary,
    unsearched,
    ...(isInNone && { notIn: within }),
  };
}

function divided(
  quick: readonly Quick[],
  inFiles: InFiles,
): Pick<SymbolsResult, "definitions" | "references"> {
  const [definitions, references]: [SymbolLine[], SymbolLine[]] = [[], []];
  for (const { isDefinition, symbol } of quick) {
    const known = inFiles.get(symbol.path);
    const exact = known?.find((one) => one.line === symbol.line && one.name === symbol.name);
    if (exact) definitions.push({ ...symbol, ...told(exact) });
    // Values and what else has a name only the expressions know; calls that look like methods, only the grammar.
    else (isDefinition && !isCall(known, symbol) ? definitions : references).push(symbol);
  }
  return { definitions, references };
}

function notInCode({ path }: SymbolLine): number {
  return kindOf(path, languageOf(path)) === "code" ? 0 : 1;
}

function sorted(all: readonly SymbolLine[], rank: (one: SymbolLine) => number): readonly SymbolLine[] {
  return all
    .map((one) => ({ one, by: rank(one) }))
    .sort((a, b) => a.by - b.by)
    .map(({ one }) => one);
}

export async function outlineOf(
  { root, path }: { readonly root: string; readonly path: string },
  limit: number,
  refined?: SymbolSources["soon"],
): Promise<SymbolsResult | Failure> {
  const bytes = readQuietly(root, path);
  if (bytes === undefined) {
    const shown = path === "" ? "the workspace" : path;
    const text = `${shown} cannot be read as a file: name a file, or give a name to look for.`;
    return failure("not-found", text);
  }
  const text = textOf(bytes);
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

/** A line with the name, and what its expression makes of it. */
interface Quick {
  readonly isDefinition: boolean;
  readonly symbol: SymbolLine;
}

type InFiles = ReadonlyMap<string, readonly SyntaxDefinition[]>;
const noFiles: InFiles = new Map();

/** Those that may define it, and have what it is in, first. */
async function ofFiles(
  quick: readonly Quick[],
  refined: NonNullable<SymbolSources["refined"]>,
  container: Container | undefined,
): Promise<InFiles> {
  const weigh = ({ isDefinition, symbol: { path } }: Quick): number =>
    Number(isDefinition) + (container ? 2 * likelihood(container, path) : 0);
  const ordered = quick.toSorted((a, b) => weigh(b) - weigh(a));
  const paths = [...new Set(ordered.map(({ symbol }) => symbol.path))].slice(0, maxFiles);
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
