/** What Python's compiler refuses and its tree-sitter grammar takes: halves of statements, and uneven indentation. */

import type * as TreeSitter from "web-tree-sitter";

/** The nodes that Python would refuse, although they parse. */
export function refusedByPython(root: TreeSitter.Node): readonly TreeSitter.Node[] {
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

/** The statements of a block that are indented otherwise than its first one. */
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
