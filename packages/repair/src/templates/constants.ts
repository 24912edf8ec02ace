/** Template: another constant: neighbours of numbers, truth values, empty values, and constants seen elsewhere in the file. */

import type { SyntaxNode } from "@lathe/protocol";
import { isDocstring } from "./file-words.ts";
import { isNumber, isString } from "./node-kind.ts";
import { similarity } from "./similarity.ts";
import { type Mutation, type MutationScope, replace, type Template } from "./template.ts";

export const constants: Template = {
  name: "constant",
  mutate(node, scope) {
    if (!node.named || isInType(node)) return [];
    if (isNumber(node)) return numbers(node, scope);
    if (isString(node) && !isDocstring(node)) return strings(node, scope);
    return truths(node, scope);
  },
};

function isInType(node: SyntaxNode): boolean {
  return node.parent?.type === "literal_type";
}

function numbers(node: SyntaxNode, scope: MutationScope): readonly Mutation[] {
  const value = Number(node.text.replaceAll("_", ""));
  if (!Number.isFinite(value)) return [];
  const choices = new Map<string, number>();
  for (const [text, prior] of [...neighbours(node, value), ...relatives(node, value, scope)]) {
    if (text !== node.text && !choices.has(text)) choices.set(text, prior);
  }
  return [...choices].map(([text, prior]) => replace(node, text, [prior, `${text} instead of ${node.text}`]));
}

type Choice = readonly [text: string, prior: number];

function neighbours(node: SyntaxNode, value: number): readonly Choice[] {
  const near = value <= 2 ? 0.5 : 0.4;
  const out: Choice[] = Number.isInteger(value)
    ? [
        [String(value + 1), near],
        [String(value - 1), near],
      ]
    : [];
  if (value >= 2) for (const factor of [10, 2, 0.1, 0.5]) out.push([tidy(value * factor), 0.12]);
  if (value !== 0) out.push([`-${node.text}`, 0.15]);
  return out;
}

function relatives(node: SyntaxNode, value: number, scope: MutationScope): readonly Choice[] {
  return [
    ...relativesOf(value).map((known): Choice => [String(known), 0.25]),
    ...scope.words.numbers.map((other): Choice => [other, 0.22]),
    ...(isStartValue(node) ? extremes(scope).map((extreme): Choice => [extreme, 0.2]) : []),
  ];
}

/** Numbers that belong together: units of time, sizes, bases. */
const KNOWN: readonly (readonly number[])[] = [
  [24, 60, 3600, 86400, 1000, 7, 12],
  [3600, 60000, 3600000, 86400000],
  [28, 29, 30, 31, 365, 366],
  [4, 100, 400],
  [1000, 1024, 1048576],
  [2, 8, 10, 16, 36],
  [90, 180, 360],
  [26, 65, 97, 90, 122, 48, 32],
];

/** Numbers that are used instead of this one by mistake. */
export function relativesOf(value: number): readonly number[] {
  return KNOWN.filter((members) => members.includes(value)).flatMap((members) =>
    members.filter((other) => other !== value),
  );
}

function tidy(value: number): string {
  return String(Number(value.toPrecision(12)));
}

function isStartValue(node: SyntaxNode): boolean {
  const parent = node.parent;
  return parent !== null && (parent.field("right") === node || parent.field("value") === node);
}

function extremes(scope: MutationScope): readonly string[] {
  return scope.python ? ["float('-inf')", "float('inf')", "None"] : ["-Infinity", "Infinity", "null"];
}

function strings(node: SyntaxNode, scope: MutationScope): readonly Mutation[] {
  const quote = /^[a-zA-Z]*("""|'''|["'`])/.exec(node.text)?.[1];
  if (
    quote === undefined ||
    node.children.some((child) => child.type.includes("substitution") || child.type === "interpolation")
  )
    return [];
  const prefix = node.text.slice(0, node.text.indexOf(quote));
  const body = node.text.slice(prefix.length + quote.length, node.text.length - quote.length);
  const choices = new Map<string, number>();
  for (const [text, prior] of bodies(body)) choices.set(`${prefix}${quote}${text}${quote}`, prior);
  for (const other of scope.words.strings) {
    if (!choices.has(other) && !other.startsWith("f") && !other.includes("${"))
      choices.set(other, 0.12 + 0.2 * similarity(other, node.text));
  }
  choices.delete(node.text);
  return [...choices].map(([text, prior]) => replace(node, text, [prior, `${text} instead of ${node.text}`]));
}

function bodies(body: string): readonly (readonly [string, number])[] {
  const choices: (readonly [string, number])[] = [];
  if (body === "") choices.push([" ", 0.35], [",", 0.15], ["0", 0.12], ["-", 0.1], ["\\n", 0.15]);
  if (body === " ") choices.push(["", 0.4]);
  if (body.length > 0 && body.length <= 2) choices.push(["", 0.15]);
  if (body.trim() !== body && body.trim() !== "") choices.push([body.trim(), 0.3]);
  if (body.trim() === body && body !== "") choices.push([`${body} `, 0.1], [` ${body}`, 0.08]);
  if (body.toLowerCase() !== body) choices.push([body.toLowerCase(), 0.2]);
  if (body.toUpperCase() !== body) choices.push([body.toUpperCase(), 0.12]);
  for (const [from, to] of FORMATS) if (from.test(body)) choices.push([body.replace(from, to), 0.2]);
  return choices;
}

/** Small edits inside format strings: case of date fields, width, decimals. */
const FORMATS: readonly (readonly [RegExp, string])[] = [
  [/%m/, "%M"],
  [/%M/, "%m"],
  [/%y/, "%Y"],
  [/%Y/, "%y"],
  [/%H/, "%I"],
  [/%I/, "%H"],
  [/%d/, "%m"],
  [/\.1f/, ".2f"],
  [/\.2f/, ".1f"],
  [/^r$/, "w"],
  [/^w$/, "a"],
];

function truths(node: SyntaxNode, scope: MutationScope): readonly Mutation[] {
  const give = (texts: readonly (readonly [string, number])[]): readonly Mutation[] =>
    texts.map(([text, prior]) => replace(node, text, [prior, `${text} instead of ${node.text}`]));
  switch (node.type) {
    case "true":
      return give([[scope.python ? "False" : "false", 0.6]]);
    case "false":
      return give([[scope.python ? "True" : "true", 0.6]]);
    case "none":
      return give([
        ["[]", 0.12],
        ["0", 0.15],
        ["False", 0.15],
        ['""', 0.12],
        ["{}", 0.08],
        ["True", 0.08],
      ]);
    case "null":
    case "undefined":
      return give([
        ["[]", 0.12],
        ["0", 0.15],
        ["false", 0.15],
        ['""', 0.12],
        [node.type === "null" ? "undefined" : "null", 0.2],
      ]);
    case "list":
    case "array":
      return node.text === "[]"
        ? give([
            ["[[]]", 0.2],
            [scope.python ? "None" : "null", 0.12],
            ["[0]", 0.12],
            ["{}", 0.06],
          ])
        : [];
    case "dictionary":
      return node.text === "{}"
        ? give([
            ["[]", 0.08],
            ["None", 0.1],
            ["set()", 0.08],
          ])
        : [];
    default:
      return [];
  }
}
