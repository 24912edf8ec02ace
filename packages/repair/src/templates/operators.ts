/** Template: another operator. A table of what people confuse, with how often. */

import type { SyntaxNode } from "@lathe/protocol";
import { type Mutation, type MutationScope, replace, type Template } from "./template.ts";

type Alternatives = readonly (readonly [operator: string, prior: number])[];

const BOTH: Readonly<Record<string, Alternatives>> = {
  "<": [
    ["<=", 0.9],
    [">", 0.7],
    [">=", 0.45],
    ["!=", 0.15],
  ],
  "<=": [
    ["<", 0.9],
    [">=", 0.7],
    [">", 0.45],
    ["==", 0.15],
  ],
  ">": [
    [">=", 0.9],
    ["<", 0.7],
    ["<=", 0.45],
    ["!=", 0.15],
  ],
  ">=": [
    [">", 0.9],
    ["<=", 0.7],
    ["<", 0.45],
    ["==", 0.15],
  ],
  "==": [
    ["!=", 0.7],
    [">=", 0.4],
    ["<=", 0.4],
    [">", 0.15],
    ["<", 0.15],
  ],
  "!=": [
    ["==", 0.7],
    ["<", 0.2],
    [">", 0.2],
  ],
  "+": [
    ["-", 0.6],
    ["*", 0.4],
  ],
  "-": [
    ["+", 0.6],
    ["*", 0.15],
    ["%", 0.1],
  ],
  "*": [
    ["+", 0.4],
    ["/", 0.35],
  ],
  "/": [
    ["*", 0.35],
    ["%", 0.25],
  ],
  "%": [
    ["/", 0.25],
    ["*", 0.1],
  ],
  "**": [["*", 0.4]],
  "&": [
    ["|", 0.6],
    ["^", 0.4],
  ],
  "|": [
    ["&", 0.6],
    ["^", 0.4],
  ],
  "^": [
    ["&", 0.5],
    ["|", 0.5],
  ],
  "<<": [[">>", 0.6]],
  ">>": [["<<", 0.6]],
  "+=": [
    ["-=", 0.5],
    ["=", 0.5],
    ["*=", 0.25],
  ],
  "-=": [
    ["+=", 0.5],
    ["=", 0.4],
  ],
  "*=": [
    ["+=", 0.35],
    ["/=", 0.35],
    ["=", 0.3],
  ],
  "/=": [
    ["*=", 0.4],
    ["=", 0.2],
  ],
  "&=": [
    ["|=", 0.5],
    ["^=", 0.4],
  ],
  "|=": [
    ["&=", 0.5],
    ["^=", 0.4],
    ["=", 0.2],
  ],
  "^=": [
    ["&=", 0.5],
    ["|=", 0.5],
  ],
  "<<=": [[">>=", 0.5]],
  ">>=": [["<<=", 0.5]],
};

const PYTHON: Readonly<Record<string, Alternatives>> = {
  "==": [
    ["in", 0.15],
    ["is", 0.08],
  ],
  "!=": [
    ["not in", 0.15],
    ["is not", 0.08],
  ],
  is: [
    ["is not", 0.6],
    ["==", 0.6],
  ],
  "is not": [
    ["is", 0.6],
    ["!=", 0.6],
  ],
  in: [
    ["not in", 0.7],
    ["==", 0.2],
  ],
  "not in": [
    ["in", 0.7],
    ["!=", 0.2],
  ],
  and: [["or", 0.75]],
  or: [["and", 0.75]],
  "/": [["//", 0.75]],
  "//": [
    ["/", 0.6],
    ["%", 0.5],
    ["*", 0.15],
  ],
  "%": [["//", 0.5]],
  "*": [
    ["**", 0.3],
    ["//", 0.3],
  ],
  "^": [["**", 0.5]],
  "-": [["//", 0.05]],
  "//=": [
    ["/=", 0.5],
    ["%=", 0.4],
    ["-=", 0.2],
  ],
  "/=": [["//=", 0.7]],
  "=": [
    ["+=", 0.3],
    ["-=", 0.1],
    ["|=", 0.06],
  ],
};

const SCRIPT: Readonly<Record<string, Alternatives>> = {
  "===": [
    ["!==", 0.7],
    [">=", 0.4],
    ["<=", 0.4],
    ["<", 0.15],
    [">", 0.15],
    ["==", 0.15],
  ],
  "!==": [
    ["===", 0.7],
    ["<", 0.2],
    [">", 0.2],
    ["!=", 0.15],
  ],
  "==": [["===", 0.5]],
  "!=": [["!==", 0.5]],
  "&&": [
    ["||", 0.75],
    ["??", 0.1],
  ],
  "||": [
    ["&&", 0.7],
    ["??", 0.75],
  ],
  "??": [
    ["||", 0.6],
    ["&&", 0.2],
  ],
  "++": [["--", 0.5]],
  "--": [["++", 0.5]],
  "=": [
    ["+=", 0.3],
    ["-=", 0.1],
    ["??=", 0.15],
  ],
  ">>": [[">>>", 0.5]],
  "||=": [["??=", 0.6]],
  "*": [["**", 0.15]],
};

const PLACES = new Set([
  "comparison_operator",
  "binary_operator",
  "boolean_operator",
  "binary_expression",
  "augmented_assignment",
  "augmented_assignment_expression",
  "assignment",
  "assignment_expression",
  "update_expression",
]);

export const operators: Template = {
  name: "operator",
  mutate(node, scope) {
    if (node.named || node.parent === null) return [];
    if (node.parent.type === "for_in_statement") return loopWord(node);
    if (!PLACES.has(node.parent.type)) return [];
    return [...(BOTH[node.type] ?? []), ...((scope.python ? PYTHON : SCRIPT)[node.type] ?? [])]
      .filter(([operator]) => scope.python || !/^[!=]=$/.test(operator) || node.type.length === 3)
      .flatMap(([operator, prior]) => alternative(node, scope, [operator, prior]));
  },
};

function alternative(
  node: SyntaxNode,
  scope: MutationScope,
  [operator, prior]: readonly [string, number],
): readonly Mutation[] {
  const strict =
    !scope.python && (operator === "==" || operator === "!=") && node.type.length < 3
      ? `${operator}=`
      : operator;
  if (strict === "=" && !scope.python && node.parent?.type === "augmented_assignment_expression")
    return [replace(node, "=", [prior, "assign instead"])];
  return [replace(node, strict, [prior, `use ${strict} instead of ${node.type}`])];
}

function loopWord(node: SyntaxNode): readonly Mutation[] {
  if (node.type === "in") return [replace(node, "of", [0.6, "loop over the values, not the keys"])];
  return node.type === "of" ? [replace(node, "in", [0.1, "loop over the keys, not the values"])] : [];
}
