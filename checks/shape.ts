/** Rules about a package's shape: cycles of folders, the number of export paths, and dodged limits. */
import { dirname } from "node:path";
import { type ParamPattern, type Program, Visitor } from "oxc-parser";

/** A source file and the files it imports, as paths below the package's folder. */
export interface FileImports {
  readonly file: string;
  readonly imports: readonly string[];
}

/**
 * The folders that import each other in a cycle, one list per cycle. A file directly in `src` counts as its
 * own folder, since a package's shared names and assembly belong there.
 */
export function folderKnots(files: readonly FileImports[]): readonly (readonly string[])[] {
  const edges = new Map<string, Set<string>>();
  for (const { file, imports } of files) {
    const from = unitOf(file);
    const to = edges.get(from) ?? new Set();
    edges.set(from, to);
    for (const unit of imports.map(unitOf)) if (unit !== from) to.add(unit);
  }
  const reached = new Map([...edges.keys()].map((unit) => [unit, reachableFrom(unit, edges)]));
  const knots = new Map<string, string[]>();
  for (const [unit, own] of reached) {
    if (!own.has(unit)) continue;
    const first = [...own].filter((other) => reached.get(other)?.has(unit)).sort()[0] ?? unit;
    knots.set(first, [...(knots.get(first) ?? []), unit]);
  }
  return [...knots.values()].map((units) => units.sort());
}

function unitOf(file: string): string {
  return /^(src\/)?[^/]+$/.test(file) ? file : dirname(file);
}

/** The nodes reachable through one or more imports. */
function reachableFrom(start: string, edges: ReadonlyMap<string, ReadonlySet<string>>): ReadonlySet<string> {
  const found = new Set<string>();
  const open = [start];
  for (let unit = open.pop(); unit !== undefined; unit = open.pop()) {
    for (const next of edges.get(unit) ?? []) {
      if (found.has(next)) continue;
      found.add(next);
      open.push(next);
    }
  }
  return found;
}

/** How many paths a manifest's `exports` has; a pattern counts once for each file it matches. */
export function exportPaths(exports: unknown, filesOf: (pattern: string) => readonly string[]): number {
  if (exports === undefined) return 0;
  if (typeof exports !== "object" || exports === null) return 1;
  return Object.values(exports)
    .map((target) => (String(target).includes("*") ? filesOf(String(target)).length : 1))
    .reduce((sum, count) => sum + count, 0);
}

/** Code that only dodges the limits on parameters and lines: tuple parameters, and spread object literals. */
export function dodgedCaps(program: Program, text: string): readonly string[] {
  const found: string[] = [];
  const add = (node: { readonly start: number }, what: string): void => {
    const line = text.slice(0, node.start).split("\n").length;
    found.push(`line ${line}: ${what}`);
  };
  const parameters = ({ params }: { readonly params: readonly ParamPattern[] }): void => {
    for (const node of params) if (isTuple(node)) add(node, "takes its parameters as a tuple");
  };
  new Visitor({
    ObjectExpression({ properties }) {
      for (const node of properties) {
        const isDodge = node.type === "SpreadElement" && node.argument.type === "ObjectExpression";
        if (isDodge) add(node, "spreads a literal");
      }
    },
    FunctionDeclaration: parameters,
    FunctionExpression: parameters,
    ArrowFunctionExpression: parameters,
    TSFunctionType: parameters,
    TSMethodSignature: parameters,
  }).visit(program);
  return found;
}

function isTuple(node: ParamPattern): boolean {
  if (node.type !== "RestElement") return false;
  const type = node.typeAnnotation?.typeAnnotation.type;
  return node.argument.type === "ArrayPattern" || type === "TSTupleType";
}
