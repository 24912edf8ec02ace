/** Unparsed tree: stands for a text that costs the parser more than its budget; all of it is one error. */
import type { SyntaxNode, SyntaxTree } from "@lathe/protocol";

export function unparsedTree(text: string): SyntaxTree {
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
