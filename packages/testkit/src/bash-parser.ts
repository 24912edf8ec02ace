/** A synchronous bash parser, for tests of packages that receive syntax trees and may not build them. */
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { SyntaxNode, SyntaxTree } from "@lathe/protocol";
import type { Node } from "web-tree-sitter";

/** Resolves with a function from text to tree. */
export async function openBashParser(): Promise<(text: string) => SyntaxTree> {
  // Imported here, so that other tests do not load it.
  const { Language, Parser } = await import("web-tree-sitter");
  await Parser.init();
  const location = import.meta.resolve("@vscode/tree-sitter-wasm/wasm/tree-sitter-bash.wasm");
  const parser = new Parser();
  parser.setLanguage(await Language.load(await readFile(fileURLToPath(location))));
  return (text) => {
    const tree = parser.parse(text);
    if (tree === null) throw new Error("the parser has no language");
    const root = wrapped(tree.rootNode, text, null);
    return { root, errors: brokenIn(root), close: () => tree.delete() };
  };
}

function wrapped(node: Node, source: string, parent: SyntaxNode | null): SyntaxNode {
  let children: readonly SyntaxNode[] | undefined;
  const fields = new Map<SyntaxNode, number>();
  const one: SyntaxNode = {
    type: node.type,
    named: node.isNamed,
    text: source.slice(node.startIndex, node.endIndex),
    start: node.startIndex,
    end: node.endIndex,
    line: node.startPosition.row + 1,
    broken: node.isError || node.isMissing,
    parent,
    get children() {
      children ??= node.children.map((child) => {
        const made = wrapped(child, source, one);
        fields.set(made, child.id);
        return made;
      });
      return children;
    },
    field: (name) => {
      const found = node.childForFieldName(name);
      return found === null ? null : (one.children.find((child) => fields.get(child) === found.id) ?? null);
    },
  };
  return one;
}

function brokenIn(root: SyntaxNode): readonly SyntaxNode[] {
  const found: SyntaxNode[] = [];
  const pending = [root];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if (node.broken) found.push(node);
    for (const child of node.children) pending.push(child);
  }
  return found;
}
