/** Template: confused functions and methods, and missing or superfluous calls around a value. */

import type { SyntaxNode } from "@lathe/protocol";
import {
  pythonGroups,
  pythonSuffixes,
  pythonWraps,
  scriptGroups,
  scriptSuffixes,
  scriptWraps,
  wrapPlaces,
} from "./call-tables.ts";
import {
  argumentsOf,
  calledName,
  enclosing,
  isCall,
  isCondition,
  isExpression,
  isFunction,
  isMember,
  memberName,
} from "./node-kind.ts";
import { brief, type Mutation, type MutationScope, replace, type Template } from "./template.ts";

export const calls: Template = {
  name: "call",
  mutate(node, scope) {
    const out: Mutation[] = [];
    if (isCall(node)) out.push(...confusions(node, scope), ...unwraps(node));
    const place = wrapPlace(node);
    if (place > 0) out.push(...wraps(node, scope, place), ...suffixes(node, scope, place));
    out.push(...awaits(node, scope));
    if (!scope.python && isMember(node)) out.push(...chaining(node));
    return out;
  },
};

function confusions(call: SyntaxNode, scope: MutationScope): readonly Mutation[] {
  const name = calledName(call);
  if (name === null) return [];
  const bare = !(call.field("function") !== null && isMember(call.field("function") as SyntaxNode));
  const groups = (scope.python ? pythonGroups : scriptGroups).filter((group) => group.includes(name.text));
  const others = new Set(groups.flat());
  others.delete(name.text);
  return [...others].map((other, index) =>
    replace(name, other, [(bare ? 0.45 : 0.5) / (1 + index * 0.15), `call ${other} instead of ${name.text}`]),
  );
}

/** `f(x)` to `x`, `x.f()` to `x`. */
function unwraps(call: SyntaxNode): readonly Mutation[] {
  const target = call.field("function");
  if (target === null || call.parent?.type === "expression_statement" || call.parent?.type === "decorator")
    return [];
  const given = argumentsOf(call);
  const out: Mutation[] = [];
  if (
    given.length > 0 &&
    given.length <= 2 &&
    given[0] !== undefined &&
    !isFunction(given[0]) &&
    given[0].type !== "keyword_argument"
  ) {
    out.push(replace(call, given[0].text, [0.2, `${brief(given[0])} itself instead of ${brief(call)}`]));
  }
  const object = isMember(target) ? target.field("object") : null;
  if (object !== null && object.type !== "this" && object.text !== "self")
    out.push(replace(call, object.text, [0.2, `${brief(object)} without .${memberName(target)?.text}()`]));
  if (given.length === 0 && isMember(target))
    out.push(replace(call, target.text, [0.12, `the member ${brief(target)}, not called`]));
  return out;
}

/** How likely a call is missing around an expression, 0 for never. */
function wrapPlace(node: SyntaxNode): number {
  const parent = node.parent;
  if (parent === null || !isExpression(node) || LITERALS.has(node.type)) return 0;
  if (
    ["left", "name", "key", "alias", "parameter", "parameters"].some(
      (field) => parent.field(field) === node,
    ) &&
    !/binary|comparison/.test(parent.type)
  )
    return 0;
  if (
    parent.type.startsWith("subscript") &&
    (parent.field("value") === node || parent.field("object") === node)
  )
    return 0.3;
  return isCondition(node) ? 0.5 : (wrapPlaces[parent.type] ?? 0);
}

const LITERALS = new Set([
  "true",
  "false",
  "none",
  "null",
  "undefined",
  "integer",
  "float",
  "number",
  "regex",
  "arrow_function",
  "lambda",
  "slice",
]);

function wraps(node: SyntaxNode, scope: MutationScope, place: number): readonly Mutation[] {
  const inLoopHead = node.parent?.field("right") === node && node.parent.type.startsWith("for");
  return (scope.python ? pythonWraps : scriptWraps)
    .filter(
      ([shape]) =>
        !node.text.startsWith(shape.slice(0, shape.indexOf("$")) || "\0") &&
        !(inLoopHead && /^(str|int|abs|len|float|bool|round|-|Number|Math)/.test(shape)),
    )
    .map(([shape, prior]) => {
      const inner = shape.startsWith("-") && /[ ]/.test(node.text) ? `(${node.text})` : node.text;
      return replace(
        node,
        shape.replace("$", () => inner),
        [prior * place, `${shape.replace("$", () => brief(node))}`],
      );
    });
}

function suffixes(node: SyntaxNode, scope: MutationScope, place: number): readonly Mutation[] {
  if (node.type === "await" || node.type === "await_expression") return [];
  const simple =
    !/binary|boolean|comparison|conditional|ternary|unary|not_operator|yield|new_expression/.test(node.type);
  return (scope.python ? pythonSuffixes : scriptSuffixes)
    .filter(([suffix, prior]) => prior > 0 && !(suffix === "()" && isCall(node)))
    .map(([suffix, prior]) => {
      const text = `${simple ? node.text : `(${node.text})`}${suffix}`;
      const whole =
        suffix.startsWith(" ") &&
        node.parent !== null &&
        /binary|comparison|member|attribute/.test(node.parent.type)
          ? `(${text})`
          : text;
      return replace(node, whole, [prior * place, `${brief(node)}${suffix}`]);
    });
}

function awaits(node: SyntaxNode, scope: MutationScope): readonly Mutation[] {
  if (node.type === "await" || node.type === "await_expression") {
    const inner = node.children.find((child) => child.named);
    return inner === undefined ? [] : [replace(node, inner.text, [0.1, "no await"])];
  }
  if (node.type === "yield" && node.parent !== null) return yields(node);
  if (!awaitable(node) || !inAsync(node)) return [];
  const bare =
    node.parent === null ||
    !(isMember(node.parent) || isCall(node.parent) || node.parent.type.startsWith("subscript"));
  const note = `await ${brief(node)}`;
  if (scope.python && node.parent?.type === "await") return [];
  return [
    replace(node, bare ? `await ${node.text}` : `(await ${node.text})`, [isCall(node) ? 0.6 : 0.25, note]),
  ];
}

function awaitable(node: SyntaxNode): boolean {
  if (node.parent?.type === "await_expression" || node.parent?.type === "await") return false;
  if (isCall(node)) return true;
  return (
    node.type === "identifier" &&
    /^(return_statement|variable_declarator)$/.test(node.parent?.type ?? "") &&
    node.parent?.field("name") !== node
  );
}

function inAsync(node: SyntaxNode): boolean {
  const home = enclosing(node, isFunction);
  return home?.children.some((child) => child.type === "async") ?? false;
}

function yields(node: SyntaxNode): readonly Mutation[] {
  if (/^yield\s*(from\b|\*)/.test(node.text))
    return [
      replace(node, node.text.replace(/^yield\s*(from\b|\*)/, "yield"), [0.4, "yield the value itself"]),
    ];
  return [replace(node, node.text.replace(/^yield/, "yield from"), [0.4, "yield from"])];
}

function chaining(member: SyntaxNode): readonly Mutation[] {
  const object = member.field("object");
  const name = memberName(member);
  if (
    object === null ||
    name === null ||
    object.type === "this" ||
    /^[A-Z]/.test(object.text) ||
    member.text.slice(object.text.length).startsWith("?")
  )
    return [];
  if (member.parent?.field("left") === member) return [];
  return [replace(member, `${object.text}?.${name.text}`, [0.16, `${brief(object)} may be missing`])];
}
