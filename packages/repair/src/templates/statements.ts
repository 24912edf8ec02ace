/** Template: statements deleted, swapped, moved in or out of a block, returned, or replaced by a jump. */

import type { SyntaxNode } from "@lathe/protocol";
import { isDocstring } from "./file-words.ts";
import {
  BLOCKS,
  enclosing,
  indentAt,
  isCall,
  isFunction,
  isStatement,
  LOOPS,
  namedChildren,
} from "./node-kind.ts";
import { indentUnit, reindent } from "./statement-text.ts";
import { brief, type Mutation, type MutationScope, replace, type Template } from "./template.ts";

export const statements: Template = {
  name: "statement",
  mutate(node, scope) {
    if (!isStatement(node) || node.parent === null) return [];
    const siblings = namedChildren(node.parent).filter(isStatement);
    const index = siblings.indexOf(node);
    const block = isBody(node.parent);
    const out: Mutation[] = [...jumps(node, scope), ...keywords(node, scope), ...returned(node, scope)];
    if (!block) return out;
    out.push(...deletion(node, siblings, scope));
    const next = siblings[index + 1];
    if (next !== undefined) out.push(...pairwise(node, next, scope));
    if (index === siblings.length - 1) out.push(...moveOut(node, siblings, scope));
    return out;
  },
};

/** True for a block, a module, a class body: anything that lists statements. */
function isBody(node: SyntaxNode): boolean {
  return (
    BLOCKS.has(node.type) || node.type === "module" || node.type === "program" || node.type === "switch_case"
  );
}

function deletion(
  node: SyntaxNode,
  siblings: readonly SyntaxNode[],
  scope: MutationScope,
): readonly Mutation[] {
  const inner = node.children[0];
  if (
    /declaration$/.test(node.type) ||
    (inner !== undefined && isDocstring(inner) && inner.type === "string")
  )
    return [];
  const long = node.text.split("\n").length;
  const prior = 0.25 / long;
  const text = scope.python && siblings.length === 1 ? "pass" : "";
  const out = [replace(text === "" ? wholeLine(node, scope) : node, text, [prior, `delete ${brief(node)}`])];
  const other = node.field("alternative");
  if (other !== null && node.type === "if_statement")
    out.push(replace({ start: other.start, end: other.end }, "", [0.08, "delete the alternative"]));
  const body = node.field("consequence");
  if (body !== null && other === null && BLOCKS.has(body.type))
    out.push(
      replace(node, unwrapped(node, body, scope), [
        0.2,
        `always, without ${brief({ text: node.text.split("\n")[0] ?? "" })}`,
      ]),
    );
  return out;
}

function unwrapped(node: SyntaxNode, body: SyntaxNode, scope: MutationScope): string {
  const parts = namedChildren(body);
  const [first, last] = [parts[0], parts.at(-1)];
  if (first === undefined || last === undefined) return "";
  const text = scope.source.slice(first.start, last.end);
  return reindent(text, indentAt(scope.source, first.start), indentAt(scope.source, node.start));
}

/** The statement with its line, when it stands alone there. */
function wholeLine(node: SyntaxNode, scope: MutationScope): { readonly start: number; readonly end: number } {
  const lineStart = scope.source.lastIndexOf("\n", node.start - 1) + 1;
  const newline = scope.source.indexOf("\n", node.end);
  const end = newline < 0 ? scope.source.length : newline + 1;
  const alone =
    scope.source.slice(lineStart, node.start).trim() === "" &&
    /^\s*;?\s*$/.test(scope.source.slice(node.end, end));
  return alone ? { start: lineStart, end } : node;
}

function pairwise(node: SyntaxNode, next: SyntaxNode, scope: MutationScope): readonly Mutation[] {
  const between = scope.source.slice(node.end, next.start);
  const both = { start: node.start, end: next.end };
  const out = [
    replace(both, `${next.text}${between}${node.text}`, [0.3, `swap ${brief(node)} and ${brief(next)}`]),
  ];
  const body = bodyOf(node);
  const unit = indentUnit(scope.source);
  const indent = indentAt(scope.source, node.start);
  if (body !== null) {
    const last = namedChildren(body).at(-1);
    const deep = last === undefined ? indent + unit : indentAt(scope.source, last.start);
    const moved = reindent(next.text, indent, deep);
    const inner = last === undefined ? body.start : last.end;
    out.push(
      replace(
        both,
        `${scope.source.slice(node.start, inner)}\n${deep}${moved}${scope.source.slice(inner, node.end)}`,
        [0.3, `move ${brief(next)} into the block above`],
      ),
    );
  }
  const nextBody = bodyOf(next);
  const first = nextBody === null ? undefined : namedChildren(nextBody)[0];
  if (first !== undefined && LOOPS.has(next.type)) {
    const deep = indentAt(scope.source, first.start);
    const moved = reindent(node.text, indent, deep);
    out.push(
      replace(
        both,
        `${scope.source.slice(next.start, first.start)}${moved}\n${deep}${scope.source.slice(first.start, next.end)}`,
        [0.3, `move ${brief(node)} into the loop below`],
      ),
    );
  }
  return out;
}

function bodyOf(node: SyntaxNode): SyntaxNode | null {
  const body = node.field("alternative")?.field("body") ?? node.field("body") ?? node.field("consequence");
  return body !== null && BLOCKS.has(body.type) ? body : null;
}

/** The last statement of a block moves behind the block; the first before a loop. */
function moveOut(
  node: SyntaxNode,
  siblings: readonly SyntaxNode[],
  scope: MutationScope,
): readonly Mutation[] {
  const block = node.parent;
  const owner = block?.parent;
  if (
    block === null ||
    owner === null ||
    owner === undefined ||
    !BLOCKS.has(block.type) ||
    isFunction(owner) ||
    siblings.length < 2
  )
    return [];
  const before = siblings.at(-2);
  const outer = owner.type === "else_clause" || owner.type === "elif_clause" ? owner.parent : owner;
  if (before === undefined || outer === null || outer === undefined || !isStatement(outer)) return [];
  const indent = indentAt(scope.source, outer.start);
  const moved = reindent(node.text, indentAt(scope.source, node.start), indent);
  const out = [
    replace(
      { start: before.end, end: outer.end },
      `${scope.source.slice(node.end, outer.end)}\n${indent}${moved}`,
      [0.4, `move ${brief(node)} out of the block`],
    ),
  ];
  const first = siblings[0];
  if (first !== undefined && LOOPS.has(outer.type) && first.type !== "return_statement") {
    const lifted = reindent(first.text, indentAt(scope.source, first.start), indent);
    const second = siblings[1];
    if (second !== undefined)
      out.push(
        replace(
          { start: outer.start, end: second.start },
          `${lifted}\n${indent}${scope.source.slice(outer.start, first.start)}`,
          [0.25, `move ${brief(first)} before the loop`],
        ),
      );
  }
  return out;
}

function jumps(node: SyntaxNode, scope: MutationScope): readonly Mutation[] {
  const end = scope.python ? "" : ";";
  const inLoop = enclosing(node, (outer) => LOOPS.has(outer.type) || isFunction(outer));
  const loops = inLoop !== null && LOOPS.has(inLoop.type);
  switch (node.type) {
    case "break_statement":
      return [
        replace(node, `continue${end}`, [0.6, "continue instead of break"]),
        replace(node, `return${end}`, [0.15, "return instead of break"]),
      ];
    case "continue_statement":
      return [
        replace(node, `break${end}`, [0.6, "break instead of continue"]),
        ...(scope.python ? [replace(node, "pass", [0.3, "do not continue"])] : []),
      ];
    case "pass_statement":
      return [
        ...(loops
          ? [replace(node, "continue", [0.4, "continue"]), replace(node, "break", [0.4, "break"])]
          : []),
        replace(node, "return", [0.15, "return"]),
        replace(node, "raise", [0.2, "raise again"]),
      ];
    case "return_statement":
      return loops
        ? [
            replace(node, `continue${end}`, [0.2, "continue instead of return"]),
            replace(node, `break${end}`, [0.25, "break instead of return"]),
          ]
        : [];
    default:
      return [];
  }
}

function keywords(node: SyntaxNode, scope: MutationScope): readonly Mutation[] {
  const word = node.children[0];
  if (word === undefined) return [];
  if (word.type === "while") return [replace(word, "if", [0.25, "if instead of while"])];
  if (word.type === "if") return ifs(node, word, scope);
  if (node.type === "try_statement" || node.type === "switch_statement") return [];
  return [];
}

function ifs(node: SyntaxNode, word: SyntaxNode, scope: MutationScope): readonly Mutation[] {
  const out: Mutation[] = [];
  if (node.field("alternative") === null) out.push(replace(word, "while", [0.12, "while instead of if"]));
  for (const clause of node.children)
    if (clause.type === "elif_clause" && clause.children[0] !== undefined)
      out.push(replace(clause.children[0], "if", [0.35, "if instead of elif"]));
  const siblings = node.parent === null ? [] : namedChildren(node.parent);
  const before = siblings[siblings.indexOf(node) - 1];
  if (before?.type !== "if_statement" || before.field("alternative") !== null) return out;
  out.push(
    scope.python
      ? replace(word, "elif", [0.4, "elif instead of if"])
      : replace(word, "else if", [0.4, "else if instead of if"]),
  );
  return out;
}

/** `f(x)` as a statement, or the last value, becomes `return f(x)`. */
function returned(node: SyntaxNode, scope: MutationScope): readonly Mutation[] {
  const inner = node.children.find((child) => child.named);
  if (node.type === "return_statement" && inner !== undefined && isCall(inner))
    return [replace(node, node.text.replace(/^return\s+/, ""), [0.08, `do not return ${brief(inner)}`])];
  if (node.type !== "expression_statement" || inner === undefined || enclosing(node, isFunction) === null)
    return [];
  if (isCall(inner) || !/assign/.test(inner.type))
    return [replace(node, `return ${node.text}`, [0.35, `return ${brief(inner)}`])];
  const value = inner.field("right");
  return value === null
    ? []
    : [replace(node, `return ${value.text}${scope.python ? "" : ";"}`, [0.15, `return ${brief(value)}`])];
}
