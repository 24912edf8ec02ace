/** Container: which definitions of a name are in the class or module that it was asked for with. */
import { type Failure, type GrepLine, type GrepResult, isFailure, type SymbolLine } from "@lathe/protocol";
import { definitionIn } from "./definitions.ts";
import { languageOf } from "./languages.ts";

export interface Container {
  readonly name: string;
  /** Files in which it is named, and whether it is defined there. */
  readonly files: ReadonlyMap<string, boolean>;
}

export async function findContainer(
  name: string,
  find: (name: string) => Promise<GrepResult | Failure>,
): Promise<Container | Failure> {
  const found = await find(name);
  if (isFailure(found)) return found;
  const files = new Map<string, boolean>();
  const defines = ({ path, text }: GrepLine): boolean => definitionIn(languageOf(path), text)?.name === name;
  for (const line of found.lines) files.set(line.path, files.get(line.path) || defines(line));
  return { name, files };
}

/** Higher where what is looked for is more likely. */
export function likelihood({ files }: Container, path: string): number {
  const isDefined = files.get(path);
  return isDefined ? 2 : Number(isDefined !== undefined);
}

/** `isKnown` tells that the grammar has said what is in what. */
export function isWithin({ name, files }: Container, symbol: SymbolLine, isKnown: boolean): boolean {
  const { path, text, container } = symbol;
  if (container !== undefined) return container.split(/\.|::|#/).at(-1) === name;
  const file = path.slice(path.lastIndexOf("/") + 1);
  // A receiver, a qualified name, or a module.
  const isNamed = text.split(/[^\p{L}\p{N}_$]+/u).includes(name) || file.split(".")[0] === name;
  return isNamed || (!isKnown && files.get(path) === true);
}
