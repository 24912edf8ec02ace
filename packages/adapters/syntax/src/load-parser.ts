/** Load parser: the runtime and the grammars of web-tree-sitter, loaded when first used. */
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { type Language, lazily } from "@lathe/protocol";
import type * as TreeSitter from "web-tree-sitter";

const loadedRuntime = lazily(async () => {
  const module = await import("web-tree-sitter");
  await module.Parser.init();
  return module;
});

const grammars = new Map<Language, Promise<TreeSitter.Language>>();

async function loadGrammar(language: Language): Promise<TreeSitter.Language> {
  const { Language: Grammar } = await loadedRuntime();
  const location = import.meta.resolve(`@vscode/tree-sitter-wasm/wasm/tree-sitter-${language}.wasm`);
  return Grammar.load(await readFile(fileURLToPath(location)));
}

/** A parser of its own; the grammar is one for all. */
export async function loadParser(language: Language): Promise<TreeSitter.Parser> {
  const { Parser } = await loadedRuntime();
  const grammar = grammars.get(language) ?? loadGrammar(language);
  grammars.set(language, grammar);
  const parser = new Parser();
  parser.setLanguage(await grammar);
  return parser;
}
