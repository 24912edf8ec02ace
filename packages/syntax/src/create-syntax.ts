/** The adapter of the Syntax port on web-tree-sitter; runtime and grammars are loaded when first used. */

import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { Language, Syntax, SyntaxTree } from "@lathe/protocol";
import type * as TreeSitter from "web-tree-sitter";
import { refusedByPython } from "./python-rules.ts";
import { TreeSitterNode } from "./syntax-node.ts";

const EXTENSIONS: Readonly<Record<string, Language>> = {
  js: "javascript",
  mjs: "javascript",
  cjs: "javascript",
  jsx: "javascript",
  ts: "typescript",
  mts: "typescript",
  cts: "typescript",
  tsx: "tsx",
  py: "python",
  pyi: "python",
  go: "go",
  rs: "rust",
  java: "java",
  cs: "c-sharp",
  c: "cpp",
  h: "cpp",
  cc: "cpp",
  cpp: "cpp",
  cxx: "cpp",
  hh: "cpp",
  hpp: "cpp",
  rb: "ruby",
  php: "php",
  sh: "bash",
  bash: "bash",
  css: "css",
};

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

function languageOf(path: string): Language | undefined {
  const extension = /\.([a-z]+)$/i.exec(path)?.[1]?.toLowerCase();
  return extension !== undefined && Object.hasOwn(EXTENSIONS, extension) ? EXTENSIONS[extension] : undefined;
}

let runtime: Promise<typeof TreeSitter> | undefined;

async function loadRuntime(): Promise<typeof TreeSitter> {
  const module = await import("web-tree-sitter");
  await module.Parser.init();
  return module;
}

async function loadParser(language: Language): Promise<TreeSitter.Parser> {
  runtime ??= loadRuntime();
  const { Language: Grammar, Parser } = await runtime;
  const location = import.meta.resolve(`@vscode/tree-sitter-wasm/wasm/tree-sitter-${language}.wasm`);
  const parser = new Parser();
  parser.setLanguage(await Grammar.load(await readFile(fileURLToPath(location))));
  return parser;
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
    if (node.damaged) pending.push(...[...node.children].reverse());
  }
  return found;
}
