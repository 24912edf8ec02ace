/** Implements the Syntax port with web-tree-sitter; runtime and grammars are loaded on first use. */

import type { Language, Syntax, SyntaxNode, SyntaxTree } from "@lathe/protocol";
import type * as TreeSitter from "web-tree-sitter";
import { languageOf } from "./language-of.ts";
import { openParser, type ParseText } from "./open-parser.ts";
import { TreeSitterNode } from "./syntax-node.ts";

/** A Syntax whose trees share their grammars. */
export function createSyntax(): Syntax {
  const parsers = new Map<Language, ParseText>();
  return {
    languageOf,
    async parse(language, text) {
      const parse = parsers.get(language) ?? openParser(language);
      parsers.set(language, parse);
      const tree = await parse(text);
      return tree ? syntaxTree(tree, { language, text }) : unparsedTree(text);
    },
  };
}

function syntaxTree(
  tree: TreeSitter.Tree,
  { language, text }: { readonly language: Language; readonly text: string },
): SyntaxTree {
  const root = new TreeSitterNode(tree.rootNode, text, null);
  let errors: readonly TreeSitterNode[] | undefined;
  const refused = (): readonly TreeSitterNode[] => {
    if (language !== "python") return [];
    return refusedByPython(tree.rootNode).map((node) => new TreeSitterNode(node, text, null));
  };
  return {
    root,
    get errors() {
      errors ??= [...brokenNodes(root), ...refused()];
      return errors;
    },
    close: () => tree.delete(),
  };
}

function brokenNodes(root: TreeSitterNode): readonly TreeSitterNode[] {
  const found: TreeSitterNode[] = [];
  const pending = [root];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if (node.broken) found.push(node);
    if (node.damaged) for (const child of node.children.toReversed()) pending.push(child);
  }
  return found;
}

/** Nodes that parse although Python would refuse them. */
function refusedByPython(root: TreeSitter.Node): readonly TreeSitter.Node[] {
  const found = root.descendantsOfType(["block", "try_statement"]);
  const blocks = found.filter((node) => node.type === "block");
  return [
    ...found.filter((node) => node.type === "try_statement" && !catches(node)),
    ...blocks.filter((block) => statementsOf(block).length === 0),
    ...[root, ...blocks].flatMap(unevenIn),
  ];
}

function catches(node: TreeSitter.Node): boolean {
  return node.namedChildren.some((child) => /^(?:except|finally)/.test(child.type));
}

/** Statements of a block that are indented differently from its first one. */
function unevenIn(block: TreeSitter.Node): readonly TreeSitter.Node[] {
  const [first, ...others] = statementsOf(block);
  if (first === undefined) return [];
  const { column } = first.startPosition;
  let { row } = first.endPosition;
  return others.filter((statement) => {
    const ownLine = statement.startPosition.row > row;
    row = statement.endPosition.row;
    return ownLine && statement.startPosition.column !== column;
  });
}

function statementsOf(block: TreeSitter.Node): readonly TreeSitter.Node[] {
  return block.namedChildren.filter((child) => child.type !== "comment");
}

/** Unparsed tree: replaces a text that exceeds the parser's budget; all of it is one error. */
function unparsedTree(text: string): SyntaxTree {
  const root: SyntaxNode = {
    type: "ERROR",
    named: true,
    text,
    start: 0,
    end: text.length,
    line: 1,
    broken: true,
    parent: null,
    children: [],
    field: () => null,
  };
  return { root, errors: [root], isUnparsed: true, close: () => undefined };
}
