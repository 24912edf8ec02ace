/** The rule about tool names: a name is written only in its definition; other code uses `toolNames`. */
import { type Expression, type Program, Visitor } from "oxc-parser";

/** The package of the definitions. */
export const definitions = "packages/sessions/tools";

/** The names that a source of the definitions package defines. */
export function definedNames(text: string): readonly string[] {
  return [...text.matchAll(/\bname: "([a-z]+(?:_[a-z]+)*)"/g)].flatMap(([, name]) => name ?? []);
}

/**
 * Names with an underscore count wherever they are written. Others are ordinary words: they count only if
 * they are compared with a `tool`, or are one.
 */
export function writtenNames(
  program: Program,
  { text, names }: { readonly text: string; readonly names: ReadonlySet<string> },
): readonly string[] {
  const found = new Map<number, string>();
  const add = ({ start }: { readonly start: number }, name: unknown): void => {
    if (typeof name !== "string" || !names.has(name)) return;
    found.set(start, `line ${text.slice(0, start).split("\n").length}: names the tool ${name}`);
  };
  new Visitor({
    Literal(node) {
      if (String(node.value).includes("_")) add(node, node.value);
    },
    Property({ key, value }) {
      if (key.type !== "Identifier") return;
      if (key.name.includes("_")) add(key, key.name);
      if (key.name === "tool" && value.type === "Literal") add(value, value.value);
    },
    BinaryExpression({ left, right }) {
      if (right.type === "Literal" && isTool(left)) add(right, right.value);
      if (left.type === "Literal" && isTool(right)) add(left, left.value);
    },
  }).visit(program);
  return [...found.values()];
}

function isTool(node: Expression | { readonly type: "PrivateIdentifier" }): boolean {
  if (node.type === "Identifier") return node.name === "tool";
  const property = node.type === "MemberExpression" ? node.property : undefined;
  return property?.type === "Identifier" && property.name === "tool";
}
