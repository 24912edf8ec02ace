/** Template: another variable, function or attribute, by similarity and by what is in scope. */

import type { SyntaxNode } from "@lathe/protocol";
import { bindsName } from "./file-words.ts";
import { enclosing, isCall, isFunction, isMember, memberName } from "./node-kind.ts";
import { similarity } from "./similarity.ts";
import { type Mutation, type MutationScope, replace, type Template } from "./template.ts";

export const names: Template = {
  name: "name",
  mutate(node, scope) {
    if (isMember(node)) return members(node, scope);
    if (node.type !== "identifier" && node.type !== "this") return [];
    if (!isRead(node)) return bindsName(node) ? targets(node, scope) : [];
    return isCalledName(node) ? functions(node, scope) : variables(node, scope);
  },
};

const DECLARING = new Set([
  "function_definition",
  "class_definition",
  "function_declaration",
  "class_declaration",
  "parameters",
  "formal_parameters",
  "lambda_parameters",
  "typed_parameter",
  "required_parameter",
  "optional_parameter",
  "global_statement",
  "nonlocal_statement",
  "import_specifier",
  "import_clause",
  "namespace_import",
  "dotted_name",
  "aliased_import",
  "export_specifier",
  "type",
  "decorator",
]);

/** True for an identifier that reads a variable or names a called function. */
function isRead(node: SyntaxNode): boolean {
  const parent = node.parent;
  if (parent === null || DECLARING.has(parent.type) || bindsName(node))
    return parent?.type === "augmented_assignment";
  if (isMember(parent)) return memberName(parent) !== node;
  if (
    parent.type === "default_parameter" ||
    parent.type === "typed_default_parameter" ||
    parent.type === "keyword_argument"
  )
    return parent.field("value") === node;
  return !(isFunction(parent) && (parent.field("name") === node || parent.field("parameter") === node));
}

function isCalledName(node: SyntaxNode): boolean {
  return (
    node.parent !== null &&
    isCall(node.parent) &&
    (node.parent.field("function") === node || node.parent.field("constructor") === node)
  );
}

function variables(node: SyntaxNode, scope: MutationScope): readonly Mutation[] {
  const out: Mutation[] = [];
  const others = scope.words.variablesAt(node).filter((name) => name !== node.text);
  for (const name of others) {
    const likeness = similarity(name, node.text);
    out.push(replace(node, name, [0.3 + 0.25 * likeness, `${name} instead of ${node.text}`]));
  }
  const receiver = node.parent !== null && isMember(node.parent);
  for (const field of receiver ? [] : scope.words.fieldsAt(node)) {
    const same = field.endsWith(`.${node.text}`);
    out.push(
      replace(node, field, [
        same ? 0.5 : 0.12 + 0.1 * similarity(field.slice(5), node.text),
        `${field} instead of ${node.text}`,
      ]),
    );
  }
  if (!receiver)
    for (const name of scope.words.attributes)
      out.push(replace(node, `${node.text}.${name}`, [0.05, `${node.text}.${name} instead of ${node.text}`]));
  return out;
}

/** The variable an assignment writes. */
function targets(node: SyntaxNode, scope: MutationScope): readonly Mutation[] {
  if (node.parent?.type !== "assignment" && node.parent?.type !== "assignment_expression") return [];
  return [...scope.words.variablesAt(node), ...scope.words.fieldsAt(node)]
    .filter((name) => name !== node.text)
    .map((name) =>
      replace(node, name, [
        0.1 + 0.15 * similarity(name, node.text),
        `assign to ${name} instead of ${node.text}`,
      ]),
    );
}

function functions(node: SyntaxNode, scope: MutationScope): readonly Mutation[] {
  const arity = scope.words.functions.get(node.text);
  const own = enclosing(node, isFunction)?.field("name")?.text;
  return [...new Set([...scope.words.functions.keys(), ...scope.words.called])]
    .filter((name) => name !== node.text && name !== own)
    .map((name) => {
      const fits = arity !== undefined && scope.words.functions.get(name) === arity;
      return replace(node, name, [
        0.12 + (fits ? 0.15 : 0) + 0.15 * similarity(name, node.text),
        `call ${name} instead of ${node.text}`,
      ]);
    });
}

function members(node: SyntaxNode, scope: MutationScope): readonly Mutation[] {
  const name = memberName(node);
  const object = node.field("object");
  if (name === null || object === null) return [];
  const called = node.parent !== null && isCalledName(node);
  const pool = called ? [...scope.words.methods, ...scope.words.functions.keys()] : scope.words.attributes;
  const out = [...new Set(pool)]
    .filter((other) => other !== name.text && other !== "")
    .map((other) =>
      replace(name, other, [
        (called ? 0.15 : 0.25) + 0.25 * similarity(other, name.text),
        `.${other} instead of .${name.text}`,
      ]),
    );
  if (!called && object.text === (scope.python ? "self" : "this")) out.push(...fieldsToNames(node, scope));
  else if (!called && !isTarget(node))
    out.push(replace(node, object.text, [0.1, `${object.text} itself instead of its .${name.text}`]));
  return out;
}

function isTarget(node: SyntaxNode): boolean {
  return node.parent?.field("left") === node;
}

function fieldsToNames(node: SyntaxNode, scope: MutationScope): readonly Mutation[] {
  if (isTarget(node)) return [];
  return scope.words
    .variablesAt(node)
    .filter((name) => name !== "self")
    .map((name) =>
      replace(node, name, [
        0.1 + 0.3 * similarity(name, memberName(node)?.text ?? ""),
        `${name} instead of ${node.text}`,
      ]),
    );
}
