/** Template: arguments of calls and parameters' defaults: swapped, missing, superfluous, forgotten options. */

import type { SyntaxNode } from "@lathe/protocol";
import { argumentsOf, calledName, isCall, isSubscript } from "./node-kind.ts";
import { brief, type Mutation, type MutationScope, replace, type Template } from "./template.ts";

export const callArguments: Template = {
  name: "argument",
  mutate(node, scope) {
    if (
      node.type === "tuple" ||
      node.type === "expression_list" ||
      node.type === "list" ||
      node.type === "array"
    )
      return swaps(node.children.filter((child) => child.named));
    if (isSubscript(node)) return swaps(node.children.slice(1).filter((child) => child.named));
    if (!isCall(node)) return [];
    const given = argumentsOf(node);
    return [...swaps(given), ...drops(node, given), ...additions(node, scope), ...options(node, scope)];
  },
};

function swaps(given: readonly SyntaxNode[]): readonly Mutation[] {
  const out: Mutation[] = [];
  for (let i = 0; i + 1 < given.length && i < 4; i++) {
    const [left, right] = [given[i], given[i + 1]];
    if (left === undefined || right === undefined || left.text === right.text) continue;
    const between =
      left.parent?.text.slice(left.end - left.parent.start, right.start - left.parent.start) ?? ", ";
    out.push(
      replace({ start: left.start, end: right.end }, `${right.text}${between}${left.text}`, [
        0.4,
        `swap ${brief(left)} and ${brief(right)}`,
      ]),
    );
  }
  return out;
}

function drops(call: SyntaxNode, given: readonly SyntaxNode[]): readonly Mutation[] {
  const list = call.field("arguments");
  if (list === null) return [];
  return given.map((argument, index) => {
    const rest = given.filter((other) => other !== argument).map((other) => other.text);
    const last = index === given.length - 1;
    return replace(list, `(${rest.join(", ")})`, [
      last ? 0.2 : 0.08,
      `without the argument ${brief(argument)}`,
    ]);
  });
}

function additions(call: SyntaxNode, scope: MutationScope): readonly Mutation[] {
  const list = call.field("arguments");
  const given = argumentsOf(call);
  if (list === null || !list.text.endsWith(")")) return [];
  const taken = new Set(given.map((argument) => argument.text));
  const wanted = scope.words.functions.get(calledName(call)?.text ?? "");
  const missing = wanted !== undefined && wanted > given.length;
  const inside = given.map((argument) => argument.text);
  return [...scope.words.variablesAt(call), ...scope.words.fieldsAt(call)]
    .filter((name) => !taken.has(name) && name !== "self")
    .map((name) =>
      replace(list, `(${[...inside, name].join(", ")})`, [missing ? 0.35 : 0.06, `pass ${name} too`]),
    );
}

type Option = readonly [inside: (given: readonly string[]) => string | undefined, prior: number];

const addLast =
  (text: string, count: number): Option[0] =>
  (given) =>
    given.length === count && !given.some((argument) => argument.includes(text.split("=")[0] ?? text))
      ? [...given, text].join(", ")
      : undefined;

const PYTHON: Readonly<Record<string, readonly Option[]>> = {
  sorted: [
    [addLast("reverse=True", 1), 0.35],
    [addLast("reverse=True", 2), 0.35],
    [addLast("key=len", 1), 0.15],
    [addLast("key=str.lower", 1), 0.15],
    [addLast("key=lambda pair: pair[1]", 1), 0.25],
    [addLast("key=lambda pair: pair[0]", 1), 0.15],
  ],
  sort: [
    [addLast("reverse=True", 0), 0.35],
    [addLast("reverse=True", 1), 0.35],
    [addLast("key=len", 0), 0.15],
    [addLast("key=lambda pair: pair[1]", 0), 0.2],
    [addLast("key=lambda pair: pair[0]", 0), 0.2],
  ],
  max: [
    [addLast("key=len", 1), 0.2],
    [addLast("default=0", 1), 0.25],
    [addLast("default=None", 1), 0.15],
  ],
  min: [
    [addLast("key=len", 1), 0.2],
    [addLast("default=0", 1), 0.25],
    [addLast("default=None", 1), 0.15],
  ],
  enumerate: [
    [addLast("1", 1), 0.3],
    [addLast("start=1", 1), 0.05],
  ],
  round: [
    [addLast("2", 1), 0.35],
    [addLast("1", 1), 0.1],
  ],
  get: [
    [addLast("0", 1), 0.4],
    [addLast("[]", 1), 0.3],
    [addLast('""', 1), 0.2],
    [addLast("False", 1), 0.1],
  ],
  pop: [
    [addLast("0", 0), 0.45],
    [addLast("-1", 0), 0.05],
    [addLast("None", 1), 0.35],
  ],
  split: [
    [(given) => (given.length === 1 && /^["'] ["']$/.test(given[0] ?? "") ? "" : undefined), 0.4],
    [addLast("1", 1), 0.35],
    [addLast("','", 0), 0.15],
  ],
  rsplit: [[addLast("1", 1), 0.3]],
  replace: [[addLast("1", 2), 0.25]],
  strip: [[addLast("'\"'", 0), 0.03]],
  int: [
    [addLast("2", 1), 0.12],
    [addLast("16", 1), 0.12],
    [addLast("base", 1), 0.12],
  ],
  next: [[addLast("None", 1), 0.4]],
  popitem: [
    [addLast("last=False", 0), 0.5],
    [addLast("last=True", 0), 0.1],
  ],
  getattr: [[addLast("None", 2), 0.35]],
  zip: [[addLast("strict=True", 2), 0.1]],
  sum: [[addLast("[]", 1), 0.15]],
  lru_cache: [[addLast("maxsize=None", 0), 0.05]],
};

const radixes: readonly Option[] = [
  [addLast("2", 0), 0.12],
  [addLast("16", 0), 0.12],
];

const SCRIPT: Readonly<Record<string, readonly Option[]>> = {
  sort: [
    [addLast("(a, b) => a - b", 0), 0.85],
    [addLast("(a, b) => b - a", 0), 0.4],
  ],
  toSorted: [
    [addLast("(a, b) => a - b", 0), 0.85],
    [addLast("(a, b) => b - a", 0), 0.4],
  ],
  parseInt: [
    [addLast("10", 1), 0.3],
    [addLast("2", 1), 0.1],
    [addLast("16", 1), 0.12],
  ],
  toString: radixes,
  reduce: [
    [addLast("0", 1), 0.5],
    [addLast("[]", 1), 0.2],
    [addLast("{}", 1), 0.15],
    [addLast('""', 1), 0.15],
  ],
  map: [
    [
      (given) =>
        given.length === 1 && /^\w+$/.test(given[0] ?? "") ? `(item) => ${given[0]}(item)` : undefined,
      0.35,
    ],
  ],
  join: [
    [addLast('""', 0), 0.5],
    [addLast('" "', 0), 0.3],
  ],
  split: [
    [addLast('""', 0), 0.3],
    [(given) => (/^(["']) \1$/.test(given[0] ?? "") ? "/\\s+/" : undefined), 0.35],
  ],
  padStart: [[addLast('"0"', 1), 0.5]],
  flat: [[addLast("Infinity", 0), 0.5]],
  toFixed: [[addLast("2", 0), 0.4]],
  slice: [
    [addLast("1", 0), 0.15],
    [addLast("-1", 1), 0.1],
    [(given) => (given.length === 1 ? `0, ${given[0]}` : undefined), 0.25],
    [(given) => (given.length === 1 ? `-${given[0]}` : undefined), 0.25],
  ],
  splice: [[addLast("1", 1), 0.6]],
  filter: [],
};

function options(call: SyntaxNode, scope: MutationScope): readonly Mutation[] {
  const name = calledName(call)?.text ?? "";
  const table = scope.python ? PYTHON : SCRIPT;
  const list = call.field("arguments");
  if (list === null || !Object.hasOwn(table, name)) return [];
  const given = argumentsOf(call).map((argument) => argument.text);
  return (table[name] ?? []).flatMap(([inside, prior]) => {
    const text = inside(given);
    return text === undefined ? [] : [replace(list, `(${text})`, [prior, `${name}(${text})`])];
  });
}
