/** Template: missing or wrong conditions: negate, drop or add a clause, regroup. */

import type { SyntaxNode } from "@lathe/protocol";
import { relativesOf } from "./constants.ts";
import { parameterNames } from "./file-words.ts";
import {
  descendants,
  enclosing,
  isArithmetic,
  isBinary,
  isCall,
  isComparison,
  isCondition,
  isFunction,
  isLogic,
  isMember,
  isNumber,
  operandsOf,
  operatorOf,
} from "./node-kind.ts";
import { brief, type Mutation, type MutationScope, replace, type Template } from "./template.ts";

export const conditions: Template = {
  name: "condition",
  mutate(node, scope) {
    const out: Mutation[] = [];
    if (isCondition(node))
      out.push(...negate(node, scope), ...addClauses(node, scope), ...replaceWhole(node, scope));
    else if (isBooleanValue(node)) out.push(...negate(node, scope), ...addClauses(node, scope));
    if (isLogic(node)) out.push(...dropClause(node));
    if (isLogic(node) || isArithmetic(node)) out.push(...regroup(node));
    if (node.type === "not_operator" || (node.type === "unary_expression" && node.text.startsWith("!")))
      out.push(...unnegate(node));
    return out;
  },
};

/** A comparison or logical expression that is returned or assigned. */
function isBooleanValue(node: SyntaxNode): boolean {
  return (
    (isComparison(node) || isLogic(node) || node.type === "not_operator") &&
    node.parent?.type === "return_statement"
  );
}

function negate(node: SyntaxNode, scope: MutationScope): readonly Mutation[] {
  if (node.type === "not_operator" || isComparison(node)) return [];
  const simple = !isBinary(node);
  const inner = simple ? node.text : `(${node.text})`;
  return [replace(node, scope.python ? `not ${inner}` : `!${inner}`, [0.5, `negate ${brief(node)}`])];
}

function unnegate(node: SyntaxNode): readonly Mutation[] {
  const inner = operandsOf(node)[0];
  return inner === undefined ? [] : [replace(node, inner.text, [0.5, `do not negate ${brief(inner)}`])];
}

function dropClause(node: SyntaxNode): readonly Mutation[] {
  const [left, right] = operandsOf(node);
  if (left === undefined || right === undefined) return [];
  return [
    replace(node, left.text, [0.35, `drop the clause ${brief(right)}`]),
    replace(node, right.text, [0.35, `drop the clause ${brief(left)}`]),
  ];
}

/** `a or b and c` to `(a or b) and c`, and parentheses taken away. */
function regroup(node: SyntaxNode): readonly Mutation[] {
  const [left, right] = operandsOf(node);
  const operator = operatorOf(node);
  if (left === undefined || right === undefined || operator === undefined) return [];
  const out: Mutation[] = [];
  if (left.type === "parenthesized_expression")
    out.push(replace(left, left.text.slice(1, -1), [0.25, `no parentheses around ${brief(left)}`]));
  if (right.type === "parenthesized_expression")
    out.push(replace(right, right.text.slice(1, -1), [0.25, `no parentheses around ${brief(right)}`]));
  const [first, second] = isBinary(left) ? operandsOf(left) : [];
  if (first !== undefined && second !== undefined) {
    out.push(
      replace(
        node,
        `${first.text} ${operatorOf(left)?.text} (${second.text} ${operator.text} ${right.text})`,
        [0.25, "group the other way"],
      ),
    );
  }
  const [third, fourth] = isBinary(right) ? operandsOf(right) : [];
  if (third !== undefined && fourth !== undefined) {
    out.push(
      replace(
        node,
        `(${left.text} ${operator.text} ${third.text}) ${operatorOf(right)?.text} ${fourth.text}`,
        [0.3, "group the other way"],
      ),
    );
  }
  return out;
}

function addClauses(node: SyntaxNode, scope: MutationScope): readonly Mutation[] {
  const [and, or] = scope.python ? ["and", "or"] : ["&&", "||"];
  const whole = isLogic(node) ? `(${node.text})` : node.text;
  return clausesFor(node, scope).flatMap(([clause, prior]) => [
    replace(node, `${clause} ${or} ${whole}`, [prior, `or when ${clause}`]),
    replace(node, `${clause} ${and} ${whole}`, [prior, `only when ${clause}`]),
    replace(node, `${whole} ${and} ${clause}`, [prior * 0.8, `only when also ${clause}`]),
  ]);
}

function clausesFor(node: SyntaxNode, scope: MutationScope): readonly (readonly [string, number])[] {
  const clauses = new Map<string, number>();
  for (const receiver of receiversIn(node))
    for (const guard of absence(receiver, scope)) clauses.set(guard, 0.3);
  const home = enclosing(node, isFunction) ?? scope.root;
  for (const [text, prior] of [...nearClauses(node, home), ...localClauses(node, home, scope)]) {
    if (!node.text.includes(text) && !clauses.has(text)) clauses.set(text, prior);
  }
  return [...clauses];
}

/** Conditions of the same function. */
function nearClauses(node: SyntaxNode, home: SyntaxNode): readonly (readonly [string, number])[] {
  return [...descendants(home)]
    .filter(isComparisonLike)
    .flatMap((other) => [
      ...(other === node ? [] : [[isLogic(other) ? `(${other.text})` : other.text, 0.12] as const]),
      ...renumbered(other),
    ]);
}

/** The clause with another number of the same family: the exception to a rule often looks like the rule. */
function renumbered(clause: SyntaxNode): readonly (readonly [string, number])[] {
  const numbers = isLogic(clause)
    ? []
    : [...descendants(clause)].filter((inner) => isNumber(inner) && Number(inner.text) > 1);
  return numbers.flatMap((number) =>
    relativesOf(Number(number.text)).map(
      (other) =>
        [
          clause.text.slice(0, number.start - clause.start) +
            other +
            clause.text.slice(number.end - clause.start),
          0.08,
        ] as const,
    ),
  );
}

/** Tests of parameters and of variables the condition speaks of. */
function localClauses(
  node: SyntaxNode,
  home: SyntaxNode,
  scope: MutationScope,
): readonly (readonly [string, number])[] {
  const inNode = [...descendants(node)]
    .filter((inner) => inner.type === "identifier")
    .map((inner) => inner.text);
  const known = new Set(scope.words.variablesAt(node));
  const locals = new Set([...(isFunction(home) ? parameterNames(home) : []), ...inNode]);
  return [...locals]
    .filter((local) => known.has(local) && local !== "self")
    .flatMap((name) => [
      ...absence(name, scope).map((guard) => [guard, 0.1] as const),
      ...signs(name, scope).map((guard) => [guard, 0.05] as const),
    ]);
}

function isComparisonLike(node: SyntaxNode): boolean {
  return isComparison(node) || isCondition(node) || node.type === "not_operator";
}

/** The objects whose members, items or calls the condition reads. */
function receiversIn(node: SyntaxNode): readonly string[] {
  const found = new Set<string>();
  for (const inner of descendants(node)) {
    const object = isMember(inner)
      ? inner.field("object")
      : inner.type.startsWith("subscript")
        ? (inner.field("value") ?? inner.field("object"))
        : null;
    if (object !== null && (object.type === "identifier" || isMember(object)) && !isCall(object))
      found.add(object.text);
  }
  found.delete("self");
  found.delete("this");
  return [...found];
}

function absence(name: string, scope: MutationScope): readonly string[] {
  return scope.python
    ? [`not ${name}`, `${name} is None`, name, `${name} is not None`]
    : [`!${name}`, `${name} === null`, name, `${name} !== undefined`];
}

function signs(name: string, scope: MutationScope): readonly string[] {
  return [`${name} ${scope.python ? "==" : "==="} 0`, `${name} > 0`, `${name} < 0`];
}

/** A constant or lone condition becomes another condition of scope. */
function replaceWhole(node: SyntaxNode, scope: MutationScope): readonly Mutation[] {
  const constant = node.type === "true" || node.type === "false";
  const out: Mutation[] = [];
  if (constant)
    for (const name of scope.words.variablesAt(node)) out.push(replace(node, name, [0.3, `while ${name}`]));
  return out;
}
