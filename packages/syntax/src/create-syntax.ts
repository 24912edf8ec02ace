/** The adapter of the Syntax port on web-tree-sitter; runtime and grammars are loaded when first used. */

import type { Language, Syntax, SyntaxTree } from "@lathe/protocol";
import type * as TreeSitter from "web-tree-sitter";
import { languageOf } from "./language-of.ts";
import { loadParser } from "./load-parser.ts";
import { refusedByPython } from "./python-rules.ts";
import { TreeSitterNode } from "./syntax-node.ts";

/** A Syntax whose grammars are shared by all its trees. */
export function createSyntax(): Syntax {
  const parsers = new Map<Language, Promise<TreeSitter.Parser>>();
  const parserFor = (language: Language): Promise<TreeSitter.Parser> => {
    const known = parsers.get(language);
    if (known !== undefined) return known;
    const loading = loadParser(language);
    parsers.set(language, loading);
    return loading;
  };
  return {
    languageOf,
    async parse(language, text) {
      const parser = await parserFor(language);
      return syntaxTree(parser, { language, text });
    },
  };
}

function syntaxTree(
  parser: TreeSitter.Parser,
  { language, text }: { readonly language: Language; readonly text: string },
): SyntaxTree {
  const tree = parser.parse(text);
  if (tree === null) throw new Error("the parser has no language");
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
