/** The syntax port: source text in, concrete syntax tree out. */

/** Languages with a grammar. */
export const languages = [
  "javascript",
  "typescript",
  "tsx",
  "python",
  "go",
  "rust",
  "java",
  "c-sharp",
  "cpp",
  "ruby",
  "php",
  "bash",
  "css",
] as const;

export type Language = (typeof languages)[number];

/** One node of a concrete syntax tree. Offsets are UTF-16 code units into the parsed text. */
export interface SyntaxNode {
  /** The grammar's name of the node, e.g. `binary_expression`; for anonymous nodes their text, e.g. `+`. */
  readonly type: string;
  readonly named: boolean;
  readonly text: string;
  readonly start: number;
  readonly end: number;
  /** 1-based line on which the node starts. */
  readonly line: number;
  /** True for an error node, and for a missing token that the parser inserted. */
  readonly broken: boolean;
  readonly parent: SyntaxNode | null;
  readonly children: readonly SyntaxNode[];
  /** The child in a named field of the grammar, e.g. `condition`. */
  field(name: string): SyntaxNode | null;
}

export interface SyntaxTree {
  readonly root: SyntaxNode;
  /** Error and inserted nodes, in source order; empty if the text parses. */
  readonly errors: readonly SyntaxNode[];
  /** True if parsing exceeds the budget; the whole text is then one error. */
  readonly isUnparsed?: true;
  /** Frees the tree's memory; its nodes must not be used afterwards. */
  close(): void;
}

export interface Syntax {
  /** *Contract:* pure; undefined if no grammar covers the path's extension. */
  languageOf(path: string): Language | undefined;
  /**
   * *Contract:* loads the grammar on first use; never throws for invalid text, and lets the process handle
   * signals within a second. The caller closes the tree.
   */
  parse(language: Language, text: string): Promise<SyntaxTree>;
}

/** A definition found by the grammar. Lines are 1-based and inclusive. */
export interface SyntaxDefinition {
  readonly name: string;
  /** `function`, `method`, `class`, ...: the language's own word. */
  readonly kind: string;
  /** The name of the definition that contains it. */
  readonly container?: string;
  /** The line of the name. */
  readonly line: number;
  /** Includes decorators and an export statement. */
  readonly startLine: number;
  readonly endLine: number;
}
