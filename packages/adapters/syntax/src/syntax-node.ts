/**
 * Shows a web-tree-sitter node as the port's SyntaxNode; children are wrapped once and can be compared by
 * identity.
 */

import type { SyntaxNode } from "@lathe/protocol";
import type { Node } from "web-tree-sitter";

/** A lazily expanded view of one parser node; `source` is the parsed text. */
export class TreeSitterNode implements SyntaxNode {
  readonly parent: TreeSitterNode | null;
  readonly type: string;
  readonly named: boolean;
  readonly start: number;
  readonly end: number;
  readonly line: number;
  readonly broken: boolean;
  readonly #node: Node;
  readonly #source: string;
  #children: readonly TreeSitterNode[] | undefined;

  constructor(node: Node, source: string, parent: TreeSitterNode | null) {
    this.#node = node;
    this.#source = source;
    this.parent = parent;
    this.type = node.type;
    this.named = node.isNamed;
    this.start = node.startIndex;
    this.end = node.endIndex;
    this.line = node.startPosition.row + 1;
    this.broken = node.isError || node.isMissing;
  }

  get text(): string {
    return this.#source.slice(this.start, this.end);
  }

  get children(): readonly TreeSitterNode[] {
    this.#children ??= this.#node.children.map((child) => new TreeSitterNode(child, this.#source, this));
    return this.#children;
  }

  field(name: string): TreeSitterNode | null {
    const found = this.#node.childForFieldName(name);
    if (found === null) return null;
    return this.children.find((child) => child.#node.id === found.id) ?? null;
  }

  /** True if this subtree contains an error or an invented token. */
  get damaged(): boolean {
    return this.#node.hasError;
  }
}
