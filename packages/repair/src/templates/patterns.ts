/** Template: small edits inside regular expressions: flags, anchors, repetition, classes. */

import type { SyntaxNode } from "@lathe/protocol";
import { calledName, isCall } from "./node-kind.ts";
import { type Mutation, replace, type Template } from "./template.ts";

export const patterns: Template = {
  name: "pattern",
  mutate(node, scope) {
    if (node.type === "regex") return literal(node);
    return scope.python && node.type === "string" && isPattern(node) ? pythonPattern(node) : [];
  },
};

const PYTHON_USERS = /^(compile|match|search|fullmatch|findall|finditer|sub|subn|split)$/;

function isPattern(node: SyntaxNode): boolean {
  const call = node.parent?.parent;
  if (call === null || call === undefined || !isCall(call)) return false;
  return (
    PYTHON_USERS.test(calledName(call)?.text ?? "") &&
    (/^[rR]/.test(node.text) || call.text.startsWith("re."))
  );
}

function literal(node: SyntaxNode): readonly Mutation[] {
  const close = node.text.lastIndexOf("/");
  const body = node.text.slice(1, close);
  const flags = node.text.slice(close + 1);
  const out = edits(body).map(([text, prior]) =>
    replace(node, `/${text}/${flags}`, [prior, `/${text}/${flags}`]),
  );
  for (const [flag, prior] of [
    ["g", 0.5],
    ["i", 0.4],
    ["m", 0.15],
    ["u", 0.05],
    ["s", 0.08],
    ["y", 0.03],
  ] as const) {
    const other = flags.includes(flag) ? flags.replace(flag, "") : flags + flag;
    out.push(
      replace(node, `/${body}/${other}`, [flags.includes(flag) ? prior * 0.5 : prior, `flags ${other}`]),
    );
  }
  return out;
}

function pythonPattern(node: SyntaxNode): readonly Mutation[] {
  const parts = /^([a-zA-Z]*)("""|'''|["'])([\s\S]*)\2$/.exec(node.text);
  if (parts === null) return [];
  const [, prefix, quote, body] = parts;
  return edits(body ?? "").map(([text, prior]) =>
    replace(node, `${prefix}${quote}${text}${quote}`, [prior, `pattern ${text}`]),
  );
}

function edits(body: string): readonly (readonly [string, number])[] {
  const out = new Map<string, number>();
  const offer = (text: string, prior: number): void => {
    if (text !== body && text !== "" && !out.has(text)) out.set(text, prior);
  };
  if (!body.startsWith("^")) offer(`^${body}`, 0.25);
  else offer(body.slice(1), 0.25);
  if (!body.endsWith("$")) offer(`${body}$`, 0.25);
  else offer(body.slice(0, -1), 0.25);
  if (!body.startsWith("^") && !body.endsWith("$")) offer(`^${body}$`, 0.25);
  for (const [from, to, prior] of EDITS) {
    for (const match of body.matchAll(from)) {
      const text = match[0].replace(new RegExp(from.source), to);
      offer(body.slice(0, match.index) + text + body.slice(match.index + match[0].length), prior);
    }
  }
  return [...out];
}

const EDITS: readonly (readonly [RegExp, string, number])[] = [
  [/\+(?!\?)/g, "*", 0.35],
  [/\*(?!\?)/g, "+", 0.35],
  [/([+*])(?![?])/g, "$1?", 0.25],
  [/([+*])\?/g, "$1", 0.25],
  [/\?(?![:=!<])/g, "", 0.2],
  [/(\\[dwsDWS]|\])(?![+*?{])/g, "$1+", 0.4],
  [/(\\[dwsDWS]|\])(?![+*?{])/g, "$1*", 0.3],
  [/(\\[dwsDWS]|\])(?![+*?{])/g, "$1?", 0.15],
  [/(\\[dwsDWS]|\])\+/g, "$1", 0.2],
  [/\\d/g, "\\w", 0.2],
  [/\\w/g, "\\d", 0.15],
  [/\\s/g, "\\S", 0.1],
  [/(?<!\\)\./g, "\\.", 0.4],
  [/\\\./g, ".", 0.1],
  [/\[a-z\]/g, "[a-zA-Z]", 0.35],
  [/a-z(?!A)/g, "a-z0-9", 0.3],
  [/A-Z(?!0)/g, "A-Z0-9", 0.25],
  [/0-9/g, "0-9.", 0.1],
  [/\[\^/g, "[", 0.15],
  [/\[(?!\^)/g, "[^", 0.15],
  [/\{(\d+)\}/g, "{$1,}", 0.3],
  [/\((?!\?)/g, "(?:", 0.05],
];
