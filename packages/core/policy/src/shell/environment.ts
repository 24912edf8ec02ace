/** The state of a script while it is followed: variables, functions, aliases, its folder. */
import type { Statement } from "./script.ts";
import { unknown, type Word } from "./word.ts";

export interface Environment {
  /** Absent: unknown. An array has many words; a value that only the shell can expand is not literal. */
  readonly variables: Map<string, readonly Word[]>;
  readonly functions: Map<string, readonly Statement[]>;
  readonly aliases: Map<string, string>;
  /** Programs that the script has renamed, by the new name. */
  readonly renamed: Map<string, Word>;
  /** Files it has created, by the name it used, with their texts if known. */
  readonly made: Map<string, { readonly text: string | undefined }>;
  readonly links: Map<string, string | undefined>;
  /** A glob, relative to the workspace or absolute; absent if unknown. */
  folder: string | undefined;
}

export function startIn(folder: string): Environment {
  return {
    variables: new Map(),
    functions: new Map(),
    aliases: new Map(),
    renamed: new Map(),
    made: new Map(),
    links: new Map(),
    folder,
  };
}

/** An independent copy. */
export function fork(environment: Environment): Environment {
  return {
    variables: new Map(environment.variables),
    functions: new Map(environment.functions),
    aliases: new Map(environment.aliases),
    renamed: new Map(environment.renamed),
    made: new Map(environment.made),
    links: new Map(environment.links),
    folder: environment.folder,
  };
}

/** Keeps what is equal in all branches, and every function and alias of any branch. */
export function join(into: Environment, others: readonly Environment[]): void {
  for (const other of others) {
    joinVariables(into.variables, other.variables);
    merge(into.functions, other.functions, (one, another) => [...one, ...another]);
    merge(into.aliases, other.aliases, (one, another) => `${one} ; ${another}`);
    for (const [name, program] of other.renamed) into.renamed.set(name, program);
    merge(into.made, other.made, () => ({ text: undefined }));
    merge(into.links, other.links, () => undefined);
    if (into.folder !== other.folder) into.folder = undefined;
  }
}

function merge<T>(
  into: Map<string, T>,
  other: ReadonlyMap<string, T>,
  both: (one: T, another: T) => T,
): void {
  for (const [name, value] of other) {
    const own = into.get(name);
    if (own !== value) into.set(name, own === undefined ? value : both(own, value));
  }
}

function joinVariables(into: Environment["variables"], other: Environment["variables"]): void {
  for (const name of new Set([...into.keys(), ...other.keys()])) {
    if (!isSame(into.get(name), other.get(name))) into.set(name, [unknown(name)]);
  }
}

/** Names of the differences; the folder and functions count as one each. */
export function changesOf(before: Environment, after: Environment): readonly string[] {
  const names = [...after.variables.keys()].filter(
    (name) => after.variables.get(name) !== before.variables.get(name),
  );
  const isRedefined =
    before.functions.size !== after.functions.size || before.aliases.size !== after.aliases.size;
  return [...names, ...(before.folder === after.folder ? [] : ["$PWD"]), ...(isRedefined ? ["()"] : [])];
}

function isSame(one: readonly Word[] | undefined, other: readonly Word[] | undefined): boolean {
  if (one === other) return true;
  if (!one || !other || one.length !== other.length) return false;
  return one.every(({ text, isLiteral }, i) => text === other[i]?.text && isLiteral === other[i]?.isLiteral);
}
