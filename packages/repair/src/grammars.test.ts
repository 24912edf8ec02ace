/** The Syntax port on the real grammars, for tests: its adapter is of this package's own layer and cannot be imported. */

import { readFile } from "node:fs/promises";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import type { Language, Syntax, SyntaxNode } from "@lathe/protocol";
import { Language as Grammar, type Node, Parser } from "web-tree-sitter";

const GRAMMARS: Readonly<Partial<Record<Language, string>>> = {
  javascript: import.meta.resolve("@vscode/tree-sitter-wasm/wasm/tree-sitter-javascript.wasm"),
  typescript: import.meta.resolve("@vscode/tree-sitter-wasm/wasm/tree-sitter-typescript.wasm"),
  tsx: import.meta.resolve("@vscode/tree-sitter-wasm/wasm/tree-sitter-tsx.wasm"),
  python: import.meta.resolve("@vscode/tree-sitter-wasm/wasm/tree-sitter-python.wasm"),
};

const EXTENSIONS: Readonly<Record<string, Language>> = {
  ".py": "python",
  ".js": "javascript",
  ".mjs": "javascript",
  ".cjs": "javascript",
  ".ts": "typescript",
  ".mts": "typescript",
  ".tsx": "tsx",
};

const parsers = new Map<Language, Promise<Parser>>();

async function load(language: Language): Promise<Parser> {
  await Parser.init();
  const parser = new Parser();
  parser.setLanguage(await Grammar.load(await readFile(fileURLToPath(GRAMMARS[language] ?? ""))));
  return parser;
}

function parserFor(language: Language): Promise<Parser> {
  const known = parsers.get(language);
  if (known !== undefined) return known;
  const loading = load(language);
  parsers.set(language, loading);
  return loading;
}

function wrap(node: Node, source: string, parent: SyntaxNode | null): SyntaxNode {
  let children: readonly (readonly [Node, SyntaxNode])[] | undefined;
  const pairs = (): readonly (readonly [Node, SyntaxNode])[] => {
    children ??= node.children.map((child) => [child, wrap(child, source, wrapped)] as const);
    return children;
  };
  const wrapped: SyntaxNode = {
    type: node.type,
    named: node.isNamed,
    text: source.slice(node.startIndex, node.endIndex),
    start: node.startIndex,
    end: node.endIndex,
    line: node.startPosition.row + 1,
    broken: node.isError || node.isMissing,
    parent,
    get children() {
      return pairs().map(([, child]) => child);
    },
    field(name) {
      const id = node.childForFieldName(name)?.id;
      return pairs().find(([child]) => child.id === id)?.[1] ?? null;
    },
  };
  return wrapped;
}

function brokenIn(node: SyntaxNode): readonly SyntaxNode[] {
  return [...(node.broken ? [node] : []), ...node.children.flatMap(brokenIn)];
}

export const grammars: Syntax = {
  languageOf: (path) => EXTENSIONS[extname(path)],
  async parse(language, text) {
    const tree = (await parserFor(language)).parse(text);
    if (tree === null) throw new Error(`no tree for ${language}`);
    const root = wrap(tree.rootNode, text, null);
    return { root, errors: tree.rootNode.hasError ? brokenIn(root) : [], close: () => tree.delete() };
  },
};
