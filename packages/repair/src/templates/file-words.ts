/** The vocabulary of one file: its variables by function, attributes, constants and functions, for templates to draw from. */

import type { SyntaxNode } from "@lathe/protocol";
import {
  calledName,
  descendants,
  enclosing,
  isCall,
  isFunction,
  isMember,
  isNumber,
  isString,
  memberName,
  namedChildren,
} from "./node-kind.ts";

export interface FileWords {
  readonly numbers: readonly string[];
  readonly strings: readonly string[];
  /** Names used after a dot, not called. */
  readonly attributes: readonly string[];
  /** Names used after a dot and called. */
  readonly methods: readonly string[];
  /** Functions the file defines, with the number of their parameters. */
  readonly functions: ReadonlyMap<string, number>;
  /** Functions the file calls by bare name. */
  readonly called: readonly string[];
  /** Variables that can be read at a node: parameters and locals of its functions, then of the module. */
  variablesAt(node: SyntaxNode): readonly string[];
  /** `self.x` and `this.x` expressions of the enclosing class. */
  fieldsAt(node: SyntaxNode): readonly string[];
}

/** Collects the vocabulary of a parsed file. */
export function fileWords(root: SyntaxNode): FileWords {
  const found: Found = {
    numbers: new Set(),
    strings: new Set(),
    attributes: new Set(),
    methods: new Set(),
    called: new Set(),
    functions: new Map(),
  };
  for (const node of descendants(root)) if (node.named) collect(node, found);
  const byFunction = new Map<SyntaxNode, readonly string[]>();
  const byClass = new Map<SyntaxNode, readonly string[]>();
  return {
    numbers: [...found.numbers],
    strings: [...found.strings],
    attributes: [...found.attributes],
    methods: [...found.methods],
    called: [...found.called],
    functions: found.functions,
    variablesAt: (node) =>
      remembered(byFunction, enclosing(node, isFunction) ?? root, (scope) => variablesOf(scope, root)),
    fieldsAt: (node) => remembered(byClass, enclosing(node, isClass) ?? root, fieldsOf),
  };
}

type Found = {
  readonly [Kind in "numbers" | "strings" | "attributes" | "methods" | "called"]: Set<string>;
} & { readonly functions: Map<string, number> };

function collect(node: SyntaxNode, found: Found): void {
  if (isNumber(node)) found.numbers.add(node.text);
  else if (isString(node) && node.text.length <= 60 && !isDocstring(node)) found.strings.add(node.text);
  else if (isMember(node))
    (isCalled(node) ? found.methods : found.attributes).add(memberName(node)?.text ?? "");
  else if (isCall(node)) addCalled(node, found.called);
  if (isFunction(node)) addFunction(node, found.functions);
}

const isClass = (node: SyntaxNode): boolean =>
  node.type === "class_definition" || node.type === "class_declaration" || node.type === "class";

/** True for a string that is a whole statement. */
export function isDocstring(node: SyntaxNode): boolean {
  return node.parent?.type === "expression_statement";
}

function isCalled(member: SyntaxNode): boolean {
  return member.parent !== null && isCall(member.parent) && member.parent.field("function") === member;
}

function addCalled(call: SyntaxNode, called: Set<string>): void {
  const name = calledName(call);
  if (name?.type === "identifier" && call.type !== "new_expression") called.add(name.text);
}

function addFunction(node: SyntaxNode, functions: Map<string, number>): void {
  const name =
    node.field("name") ?? (node.parent?.type === "variable_declarator" ? node.parent.field("name") : null);
  if (name !== null)
    functions.set(
      name.text,
      parameterNames(node).filter((parameter) => parameter !== "self" && parameter !== "cls").length,
    );
}

/** The names of a function's parameters, in order. */
export function parameterNames(node: SyntaxNode): readonly string[] {
  const single = node.field("parameter");
  if (single !== null) return [single.text];
  const list = node.field("parameters");
  if (list === null) return [];
  return namedChildren(list).flatMap((parameter) => firstIdentifier(parameter) ?? []);
}

function firstIdentifier(node: SyntaxNode): string | undefined {
  for (const inner of descendants(node))
    if (inner.type === "identifier" || inner.type === "shorthand_property_identifier_pattern")
      return inner.text;
  return undefined;
}

function remembered<K, V>(cache: Map<K, V>, key: K, compute: (key: K) => V): V {
  const known = cache.get(key);
  if (known !== undefined) return known;
  const value = compute(key);
  cache.set(key, value);
  return value;
}

function variablesOf(scope: SyntaxNode, root: SyntaxNode): readonly string[] {
  const found = new Set<string>();
  for (let at: SyntaxNode | null = scope; at !== null; at = enclosing(at, isFunction)) {
    for (const name of parameterNames(at)) found.add(name);
    for (const node of descendants(at)) if (bindsName(node)) found.add(node.text);
  }
  for (const name of moduleVariables(root)) found.add(name);
  found.delete("_");
  found.delete("cls");
  return [...found];
}

function moduleVariables(root: SyntaxNode): readonly string[] {
  const found: string[] = [];
  for (const statement of root.children) {
    const declared = statement.type === "export_statement" ? statement.field("declaration") : statement;
    if (declared === null || isFunction(declared) || isClass(declared) || declared.type.startsWith("import"))
      continue;
    for (const node of shallow(declared)) if (bindsName(node)) found.push(node.text);
  }
  return found;
}

/** A statement's nodes, without those inside functions it holds. */
function* shallow(node: SyntaxNode): Generator<SyntaxNode> {
  yield node;
  if (isFunction(node)) return;
  for (const child of node.children) yield* shallow(child);
}

const BINDERS: Readonly<Record<string, string>> = {
  assignment: "left",
  augmented_assignment: "left",
  for_statement: "left",
  for_in_clause: "left",
  for_in_statement: "left",
  variable_declarator: "name",
  assignment_expression: "left",
  as_pattern: "alias",
  named_expression: "name",
};

const PATTERNS = new Set([
  "pattern_list",
  "tuple_pattern",
  "list_pattern",
  "array_pattern",
  "object_pattern",
  "tuple",
  "as_pattern_target",
  "pair_pattern",
]);

/** True for an identifier that is bound where it stands. */
export function bindsName(node: SyntaxNode): boolean {
  if (node.type !== "identifier" && node.type !== "shorthand_property_identifier_pattern") return false;
  let inner = node;
  while (inner.parent !== null && PATTERNS.has(inner.parent.type)) inner = inner.parent;
  const binder = inner.parent;
  if (binder === null) return false;
  if (binder.type === "as_pattern") return true;
  const field = BINDERS[binder.type];
  return field !== undefined && binder.field(field) === inner && !holdsFunction(binder);
}

function holdsFunction(binder: SyntaxNode): boolean {
  const value = binder.field("value");
  return value !== null && isFunction(value);
}

function fieldsOf(scope: SyntaxNode): readonly string[] {
  const found = new Set<string>();
  for (const node of descendants(scope)) {
    if (isMember(node) && !isCalled(node) && /^(self|this)$/.test(node.field("object")?.text ?? ""))
      found.add(node.text);
  }
  return [...found];
}
