/**
 * Template: a missing guard that exists elsewhere in the file: most missing code exists near by (Barr et al.
 * 2014).
 */

import type { SyntaxNode } from "@lathe/protocol";
import {
  BLOCKS,
  descendants,
  enclosing,
  indentAt,
  isFunction,
  isStatement,
  namedChildren,
} from "./node-kind.ts";
import { indentUnit } from "./statement-text.ts";
import { brief, type Mutation, type MutationScope, type Template } from "./template.ts";

const LEAVES = /^(return|raise|throw|break|continue)_statement$/;
const LONGEST = 160;

export const copiedGuards: Template = {
  name: "copied-guard",
  mutate(node, scope) {
    if (!isStatement(node) || node.parent === null || !BLOCKS.has(node.parent.type)) return [];
    const home = enclosing(node, isFunction);
    if (home === null) return [];
    const known = new Set([
      ...scope.words.variablesAt(node),
      ...scope.words.functions.keys(),
      ...scope.words.called,
    ]);
    return guardsOf(scope.root)
      .filter((guard) => guard.node.parent !== node.parent && guard.names.every((name) => known.has(name)))
      .map((guard) => before(node, guard, scope));
  },
};

interface Guard {
  readonly node: SyntaxNode;
  readonly condition: SyntaxNode;
  readonly leave: SyntaxNode;
  /** Variables and functions it reads. */
  readonly names: readonly string[];
}

const guardsByRoot = new WeakMap<SyntaxNode, readonly Guard[]>();

/** Every `if` of the file that only leaves: the function, the loop or by an error. */
function guardsOf(root: SyntaxNode): readonly Guard[] {
  const known = guardsByRoot.get(root);
  if (known !== undefined) return known;
  const found = [...descendants(root)].flatMap((node) => guardOf(node) ?? []);
  guardsByRoot.set(root, found);
  return found;
}

function guardOf(node: SyntaxNode): Guard | undefined {
  if (node.type !== "if_statement" || node.field("alternative") !== null || node.text.length > LONGEST)
    return undefined;
  const condition = node.field("condition");
  const body = node.field("consequence");
  const leave = body === null ? undefined : BLOCKS.has(body.type) ? only(namedChildren(body)) : body;
  if (condition === null || leave === undefined || !LEAVES.test(leave.type)) return undefined;
  const names = [...descendants(condition), ...descendants(leave)]
    .filter((inner) => inner.type === "identifier" && isRead(inner))
    .map((inner) => inner.text);
  return { node, condition, leave, names };
}

function only<T>(items: readonly T[]): T | undefined {
  return items.length === 1 ? items[0] : undefined;
}

/** False for the `b` of `a.b`, where a grammar calls it an identifier too. */
function isRead(node: SyntaxNode): boolean {
  return node.parent?.field("attribute") !== node;
}

function before(node: SyntaxNode, { condition, leave }: Guard, scope: MutationScope): Mutation {
  const indent = indentAt(scope.source, node.start);
  const text = scope.python
    ? `if ${condition.text}:\n${indent}${indentUnit(scope.source)}${leave.text}\n${indent}`
    : `if ${condition.text} ${leave.text}\n${indent}`;
  return {
    start: node.start,
    end: node.start,
    text,
    prior: 0.3,
    note: `insert ${brief({ text: `if ${condition.text} ${leave.text}` })}`,
  };
}
