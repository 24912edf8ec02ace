/** The adapter of the Syntax port on web-tree-sitter; runtime and grammars are loaded when first used. */

import type { Language, Syntax, SyntaxTree } from "@lathe/protocol";
import type * as TreeSitter from "web-tree-sitter";
import { languageOf } from "./language-of.ts";
import { openParser, type ParseText } from "./open-parser.ts";
import { refusedByPython } from "./python-rules.ts";
import { TreeSitterNode } from "./syntax-node.ts";
import { unparsedTree } from "./unparsed-tree.ts";

/** A Syntax whose grammars are shared by all its trees. */
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
