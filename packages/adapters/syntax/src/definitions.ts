/** Definitions of a text according to its grammar: name, kind, container, first and last line. */
import type { SyntaxDefinition } from "@lathe/protocol";
import type { Node, TreeCursor } from "web-tree-sitter";
import { languageOf } from "./language-of.ts";
import { openParser, type ParseText } from "./open-parser.ts";

/** Maximum characters of a parsed text, and maximum definitions of one text. */
const maxChars = 200_000;
const maxDefinitions = 2_000;

/** Maps the grammars' node names to kinds. */
const kinds: ReadonlyMap<string, string> = new Map(
  Object.entries({
    function:
      "function_declaration generator_function_declaration function_definition function_item function_signature function_signature_item",
    method:
      "method_definition method_declaration method method_signature abstract_method_signature singleton_method",
    constructor: "constructor_declaration",
    class:
      "class_declaration abstract_class_declaration class_definition class_specifier class record_declaration",
    interface: "interface_declaration annotation_type_declaration",
    enum: "enum_declaration enum_item enum_specifier",
    struct: "struct_item struct_specifier struct_declaration",
    union: "union_item union_specifier",
    trait: "trait_item trait_declaration",
    type: "type_alias_declaration type_spec type_item",
    module: "mod_item module namespace_definition internal_module namespace_declaration",
    macro: "macro_definition preproc_function_def",
  }).flatMap(([kind, types]) => types.split(" ").map((type) => [type, kind] as const)),
);
/** Nodes that name a function from outside, with the fields of its name and of the function. */
const holders: ReadonlyMap<string, readonly [name: string, value: string]> = new Map([
  ["variable_declarator", ["name", "value"]],
  ["pair", ["key", "value"]],
  ["assignment_expression", ["left", "right"]],
  ["field_definition", ["property", "value"]],
  ["public_field_definition", ["name", "value"]],
]);
const functions = /^(?:arrow_function|function_expression|generator_function)$/;
/** Nodes that surround a definition and are part of it. */
const wrappers =
  /^(?:export_statement|decorated_definition|template_declaration|lexical_declaration|variable_declaration|expression_statement|type_declaration)$/;

export type DefinitionsOf = (path: string, text: string) => Promise<readonly SyntaxDefinition[] | undefined>;

/**
 * *Contract:* undefined if no grammar covers the path, or the text is too long or too costly to parse; never
 * fails on text that does not parse.
 */
export function createDefinitionsOf(): DefinitionsOf {
  const parsers = new Map<string, ParseText>();
  return async (path, text) => {
    const language = languageOf(path);
    if (language === undefined || text.length > maxChars) return undefined;
    const parse = parsers.get(language) ?? openParser(language);
    parsers.set(language, parse);
    const tree = await parse(text);
    if (!tree) return undefined;
    const cursor = tree.walk();
    try {
      return definitionsBelow(cursor);
    } finally {
      cursor.delete();
      tree.delete();
    }
  };
}

interface Container {
  readonly name: string;
  readonly depth: number;
  /** Functions inside are methods. */
  readonly isType: boolean;
}

function definitionsBelow(cursor: TreeCursor): readonly SyntaxDefinition[] {
  const found: SyntaxDefinition[] = [];
  const around: Container[] = [];
  do {
    while ((around.at(-1)?.depth ?? -1) >= cursor.currentDepth) around.pop();
    const container = containerAt(cursor);
    const definition = definitionAt(cursor, around.at(-1));
    if (definition) found.push(definition);
    const name = definition?.name ?? container;
    if (name === undefined) continue;
    const isType = !/^(?:function|method|constructor|macro|module)$/.test(definition?.kind ?? "type");
    around.push({ name, depth: cursor.currentDepth, isType });
  } while (found.length < maxDefinitions && goOn(cursor));
  return found;
}

/** Moves to the next node, children first. */
function goOn(cursor: TreeCursor): boolean {
  if (cursor.gotoFirstChild()) return true;
  while (!cursor.gotoNextSibling()) if (!cursor.gotoParent()) return false;
  return true;
}

/** Rust's methods are separate from their type. */
function containerAt(cursor: TreeCursor): string | undefined {
  if (cursor.nodeType !== "impl_item") return undefined;
  return cursor.currentNode.childForFieldName("type")?.text.replace(/<.*/s, "");
}

function definitionAt(cursor: TreeCursor, container: Container | undefined): SyntaxDefinition | undefined {
  const type = cursor.nodeType;
  const kind = kinds.get(type) ?? (holders.has(type) ? "function" : undefined);
  if (kind === undefined || !cursor.nodeIsNamed) return undefined;
  const node = cursor.currentNode;
  const name = holders.has(type) ? heldName(node, type) : nameOf(node, type);
  if (!name) return undefined;
  const outer = wrapped(node);
  const owner = container?.name ?? receiverOf(node);
  return {
    name: name.text,
    kind: kind === "type" ? kindOfType(node) : kind === "function" && container?.isType ? "method" : kind,
    ...(owner !== undefined && { container: owner }),
    line: name.startPosition.row + 1,
    startLine: outer.startPosition.row + 1,
    // A node that ends with a line ends at the start of the next one.
    endLine:
      Math.max(outer.startPosition.row, outer.endPosition.row - (outer.endPosition.column === 0 ? 1 : 0)) + 1,
  };
}

function heldName(node: Node, type: string): Node | undefined {
  const [nameField, valueField] = holders.get(type) ?? ["", ""];
  const value = node.childForFieldName(valueField);
  if (!value || !functions.test(value.type)) return undefined;
  const name = node.childForFieldName(nameField);
  const last = name?.type === "member_expression" ? name.childForFieldName("property") : name;
  return last && /identifier$/.test(last.type) ? last : undefined;
}

/** In C and C++ declarators surround the name, and a node without a body only mentions it. */
function nameOf(node: Node, type: string): Node | undefined {
  if (type.endsWith("_specifier") && !node.childForFieldName("body")) return undefined;
  let name = node.childForFieldName("name") ?? node.childForFieldName("declarator");
  while (name && !/identifier|constant|name$|word/.test(name.type)) {
    const inner: Node | null | undefined =
      name.childForFieldName("declarator") ??
      name.namedChildren.find((child) => child && /declarator$|identifier$/.test(child.type));
    if (!inner) break;
    name = inner;
  }
  if (name?.type === "qualified_identifier") name = name.childForFieldName("name") ?? name;
  return name ?? undefined;
}

/** For a Go method. */
function receiverOf(node: Node): string | undefined {
  return /([\p{L}_][\p{L}\p{N}_]*)\s*(?:\[[^\]]*\])?\s*\)$/u.exec(
    node.childForFieldName("receiver")?.text ?? "",
  )?.[1];
}

function kindOfType(node: Node): string {
  return /^(struct|interface)_type$/.exec(node.childForFieldName("type")?.type ?? "")?.[1] ?? "type";
}

function wrapped(node: Node): Node {
  const { parent } = node;
  if (!parent || !wrappers.test(parent.type)) return node;
  // If several could be declared together, each one is a definition of its own.
  const isAlone = parent.namedChildCount === 1 && parent.child(1)?.type !== "(";
  return isAlone || !/_declaration$/.test(parent.type) || parent.type === "template_declaration"
    ? wrapped(parent)
    : node;
}
