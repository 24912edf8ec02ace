/**
 * Converts a parser's tree of a bash script to policy's own form; unknown parts make the script incomplete.
 */

import type { SyntaxNode, SyntaxTree } from "@lathe/protocol";
import { append } from "../append.ts";
import { deeper, type Reading, readWord, together, wordTypes } from "./read-word.ts";
import type { Assignment, Script, ShellRedirect, ShellWord, Statement } from "./script.ts";

/** *Contract:* the tree may be closed afterwards. */
export function readScript({ root, errors }: SyntaxTree): Script {
  const isWhole = errors.length === 0;
  const reading: Reading = { isWhole, depth: 0, steps: 0, bodyOf: (node) => bodyOf(node, reading) };
  const statements = statementsIn(root, reading);
  return { statements, isWhole: reading.isWhole };
}

type Read = (node: SyntaxNode, reading: Reading) => readonly Statement[];

const byType: Readonly<Record<string, Read>> = {
  command: readCommand,
  declaration_command: readCommand,
  unset_command: readCommand,
  variable_assignment: readCommand,
  variable_assignments: readCommand,
  test_command: readTest,
  redirected_statement: readRedirected,
  pipeline: (node, reading) => [{ type: "pipeline", parts: statementsIn(node, reading) }],
  list: readList,
  compound_statement: (node, reading) => [group(statementsIn(node, reading), false)],
  subshell: (node, reading) => [group(statementsIn(node, reading), true)],
  do_group: statementsIn,
  else_clause: statementsIn,
  elif_clause: readIf,
  negated_command: statementsIn,
  if_statement: readIf,
  case_statement: readCase,
  while_statement: (node, reading) => [{ type: "loop", body: statementsIn(node, reading) }],
  c_style_for_statement: (node, reading) => [
    ...arithmeticOf(node, reading),
    { type: "loop", body: statementsIn(node, reading) },
  ],
  for_statement: readFor,
  function_definition: readFunction,
  ERROR: statementsIn,
};

/** Statements among the children, in order; skips tokens and comments. */
function statementsIn(node: SyntaxNode, reading: Reading): readonly Statement[] {
  return node.children.flatMap((child) => statementsOf(child, reading) ?? []);
}

/** Undefined for a token, a comment or a word. */
function statementsOf(node: SyntaxNode, reading: Reading): readonly Statement[] | undefined {
  const read = Object.hasOwn(byType, node.type) ? byType[node.type] : undefined;
  return read && deeper(reading, () => read(node, reading), []);
}

/** `$(<file)` prints a file. */
function bodyOf(node: SyntaxNode, reading: Reading): readonly Statement[] {
  const redirects = node.children.filter(({ type }) => type === "file_redirect");
  const body = statementsIn(node, reading);
  if (redirects.length === 0 || body.length > 0) return body;
  const draft: CommandDraft = { words: [printing], assignments: [], redirects: [], after: [] };
  for (const redirect of redirects) readRedirect(redirect, draft, reading);
  return [{ type: "call", words: draft.words, assignments: [], redirects: draft.redirects, raw: node.text }];
}

const printing = literal("cat");

function literal(text: string): ShellWord {
  return { pieces: [{ type: "text", text, quoted: true }], raw: text };
}

function call(words: readonly ShellWord[], raw: string): Statement {
  return { type: "call", words, assignments: [], redirects: [], raw };
}

function group(
  body: readonly Statement[],
  isSubshell: boolean,
  redirects: readonly ShellRedirect[] = [],
): Statement {
  return { type: "group", isSubshell, body, redirects };
}

interface CommandDraft {
  readonly words: ShellWord[];
  readonly assignments: Assignment[];
  readonly redirects: ShellRedirect[];
  /** The rest of the line after a here-document. */
  readonly after: SyntaxNode[];
}

function readCommand(node: SyntaxNode, reading: Reading): readonly Statement[] {
  const draft: CommandDraft = { words: [], assignments: [], redirects: [], after: [] };
  const parts = node.type === "variable_assignment" ? [node] : node.children;
  for (const child of parts) readPart(child, draft, reading);
  const { words, assignments, redirects } = draft;
  if (reserved.has(words[0]?.raw ?? "") || hasLostDollar(node.text)) reading.isWhole = false;
  return [{ type: "call", words, assignments, redirects, raw: node.text }];
}

/** The grammar drops a dollar before a backslash, or before another dollar and a quote. */
function hasLostDollar(text: string): boolean {
  const bare = text.replace(/(?<![$\\])'[^']*'|"(?:[^"\\]|\\[\s\S])*"/gu, "");
  return [...bare.matchAll(/\\[\s\S]|(\$\\|\$\$')/gu)].some(([, lost]) => lost !== undefined);
}

/** Never command names: if the grammar finds one as a name, it has misparsed. */
const reserved: ReadonlySet<string> = new Set(
  "if then else elif fi while until do done for in select case esac function { } ! coproc".split(" "),
);

function readPart(child: SyntaxNode, draft: CommandDraft, reading: Reading): void {
  switch (child.type) {
    case "command_name":
      draft.words.push(readWord(child, reading));
      return;
    case "variable_assignment":
      draft.assignments.push(readAssignment(child, reading));
      return;
    case "file_redirect":
    case "herestring_redirect":
      readRedirect(child, draft, reading);
      return;
    case "heredoc_redirect":
      readHeredoc(child, draft, reading);
      return;
    case "comment":
      return;
    default:
      addWord(child, draft, reading);
  }
}

/** The grammar splits some words; adjacent parts are one word. */
function addWord(node: SyntaxNode, draft: CommandDraft, reading: Reading): void {
  const word = readWord(node, reading);
  const last = draft.words.at(-1);
  const before = previous(node);
  const rest = before ? gapBetween(before, node) : " ";
  // Non-blank text outside any node was dropped.
  if (/\S/u.test(rest)) reading.isWhole = false;
  const isTogether = last && before && rest === "" && before.type !== "file_redirect";
  if (isTogether && before.type !== "variable_assignment") draft.words.splice(-1, 1, together(last, word));
  else draft.words.push(word);
}

/** A line continuation is no blank. */
function gapBetween(before: SyntaxNode, { parent, start }: SyntaxNode): string {
  const from = parent?.start ?? 0;
  return (parent?.text.slice(before.end - from, start - from) ?? "").replaceAll("\\\n", "");
}

function previous({ parent, start }: SyntaxNode): SyntaxNode | undefined {
  if (!parent) return undefined;
  const { children } = parent;
  // Binary search for the first one that does not begin earlier: a command may have very many words.
  let [low, high] = [0, children.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((children[middle]?.start ?? 0) < start) low = middle + 1;
    else high = middle;
  }
  return children[low - 1];
}

function readAssignment(node: SyntaxNode, reading: Reading): Assignment {
  const name = node.field("name");
  const value = node.field("value");
  const values =
    value?.type === "array"
      ? value.children.filter(({ named }) => named).map((item) => readWord(item, reading))
      : value
        ? [readWord(value, reading)]
        : [];
  const isSubscript = name?.type === "subscript";
  // The subscript of an element is executed, too.
  const index = isSubscript ? [readWord(name, reading)] : [];
  const isPartial = isSubscript || node.children.some(({ type }) => type === "+=");
  const plain = /^\w+/u.exec(name?.text ?? "")?.[0] ?? "";
  return { name: plain, values: [...values, ...index], isPartial, raw: node.text };
}

function readRedirect(node: SyntaxNode, draft: CommandDraft, reading: Reading): void {
  const operator = node.children.find(({ named }) => !named)?.text ?? ">";
  const [target, ...more] = node.children.filter(({ named, type }) => named && type !== "file_descriptor");
  const descriptor = node.children.find(({ type }) => type === "file_descriptor")?.text;
  const of = descriptor === undefined ? {} : { descriptor };
  if (target) draft.redirects.push({ operator, target: readWord(target, reading), ...of });
  // The grammar counts words after a target as targets; a shell takes them as arguments.
  append(
    draft.words,
    more.map((word) => readWord(word, reading)),
  );
}

function readHeredoc(node: SyntaxNode, draft: CommandDraft, reading: Reading): void {
  const start = node.children.find(({ type }) => type === "heredoc_start")?.text ?? "";
  for (const child of node.children) {
    if (child.type === "heredoc_body") {
      const isRaw = /['"\\]/u.test(start);
      const text = { type: "text", text: child.text, quoted: true } as const;
      const target = isRaw ? { pieces: [text], raw: child.text } : readWord(child, reading);
      draft.redirects.push({ operator: "<<", target });
    } else if (child.type === "file_redirect" || child.type === "herestring_redirect") {
      readRedirect(child, draft, reading);
    } else if (Object.hasOwn(byType, child.type) || child.type === "&&" || child.type === "||") {
      draft.after.push(child);
    } else if (wordTypes.has(child.type)) draft.words.push(readWord(child, reading));
  }
}

/** A statement with redirects; the grammar attaches the rest of the line to a here-document. */
function readRedirected(node: SyntaxNode, reading: Reading): readonly Statement[] {
  const draft: CommandDraft = { words: [], assignments: [], redirects: [], after: [] };
  const body: Statement[] = [];
  for (const child of node.children) {
    readLost(child, draft, reading);
    const read = child.type === "ERROR" ? undefined : statementsOf(child, reading);
    if (read) append(body, read);
    else readPart(child, draft, reading);
  }
  const { words, assignments, redirects } = draft;
  const [only] = body;
  const statement: Statement =
    body.length === 0
      ? { type: "call", words, assignments, redirects, raw: node.text }
      : body.length === 1 && only?.type === "call"
        ? {
            ...only,
            words: [...only.words, ...words],
            redirects: [...only.redirects, ...redirects],
            raw: draft.after.length > 0 ? only.raw : node.text,
          }
        : withRedirects(body, redirects);
  return continued(statement, draft.after, reading);
}

/** Before a here-document the grammar drops a single `-`. */
function readLost(node: SyntaxNode, draft: CommandDraft, reading: Reading): void {
  const before = previous(node);
  const lost = before ? gapBetween(before, node).trim() : "";
  if (lost === "-") draft.words.push(literal("-"));
  else if (lost !== "") reading.isWhole = false;
}

/** Redirects of a pipeline or chain are those of its last part. */
function withRedirects(body: readonly Statement[], redirects: readonly ShellRedirect[]): Statement {
  const last = body.at(-1);
  if (last?.type === "pipeline") return { ...last, parts: onLast(last.parts, redirects) };
  if (last?.type === "chain" && body.length === 1) return { ...last, right: onLast(last.right, redirects) };
  return group(body, false, redirects);
}

function onLast(statements: readonly Statement[], redirects: readonly ShellRedirect[]): readonly Statement[] {
  const tail = statements.at(-1);
  if (!tail) return [];
  const changed = tail.type === "call" ? withMore(tail, redirects) : withRedirects([tail], redirects);
  return [...statements.slice(0, -1), changed];
}

function withMore(
  call: Extract<Statement, { type: "call" }>,
  redirects: readonly ShellRedirect[],
): Statement {
  return { ...call, redirects: [...call.redirects, ...redirects] };
}

function continued(
  statement: Statement,
  after: readonly SyntaxNode[],
  reading: Reading,
): readonly Statement[] {
  let done = statement;
  let operator: "&&" | "||" | undefined;
  for (const node of after) {
    if (node.type === "&&" || node.type === "||") operator = node.type;
    else {
      const right = statementsOf(node, reading) ?? [];
      const [first] = right;
      if (operator) done = { type: "chain", operator, left: [done], right };
      else if (node.type === "pipeline" && first?.type === "pipeline")
        done = { type: "pipeline", parts: [done, ...first.parts] };
      else done = group([done, ...right], false);
      operator = undefined;
    }
  }
  return [done];
}

function readTest(node: SyntaxNode, reading: Reading): readonly Statement[] {
  const opening = node.children[0]?.text ?? "[";
  const inner = readWord(node, reading);
  const rest: ShellWord = { pieces: inner.pieces, raw: node.text.slice(opening.length) };
  const test = call([literal(opening), rest], node.text);
  if (opening !== "((") return [test];
  // A shell without arithmetic commands, such as dash, takes this for subshells and runs their content.
  const script = literal(node.text.slice(2).replace(/\)\)$/u, ""));
  return [test, call([literal("eval"), script], node.text)];
}

function readList(node: SyntaxNode, reading: Reading): readonly Statement[] {
  const operator = node.children.some(({ type }) => type === "||") ? "||" : "&&";
  const at = node.children.findIndex(({ type }) => type === operator);
  const side = (nodes: readonly SyntaxNode[]): readonly Statement[] =>
    nodes.flatMap((child) => statementsOf(child, reading) ?? []);
  const left = side(node.children.slice(0, at));
  return [{ type: "chain", operator, left, right: side(node.children.slice(at)) }];
}

/** The condition is read with what follows it: all of it may run. */
function readIf(node: SyntaxNode, reading: Reading): readonly Statement[] {
  const at = node.children.findIndex(({ type }) => type === "then");
  const part = (nodes: readonly SyntaxNode[]): readonly Statement[] =>
    nodes.flatMap((child) => statementsOf(child, reading) ?? []);
  const others = node.children.filter(({ type }) => type === "elif_clause" || type === "else_clause");
  const body = node.children.slice(at).filter((child) => !others.includes(child));
  const bodies = [part(body), ...others.map((other) => part([other]))];
  return [...part(node.children.slice(0, at)), { type: "branches", bodies }];
}

function readCase(node: SyntaxNode, reading: Reading): readonly Statement[] {
  const value = node.field("value");
  const items = node.children.filter(({ type }) => type === "case_item");
  const words = [
    ...(value ? [readWord(value, reading)] : []),
    ...items.flatMap((item) =>
      item.children.filter(({ type }) => wordTypes.has(type)).map((word) => readWord(word, reading)),
    ),
  ];
  const running = words.filter(({ pieces }) => pieces.some(({ type }) => type !== "text"));
  const looked: readonly Statement[] = running.length === 0 ? [] : [call([literal(":"), ...running], ":")];
  return [...looked, { type: "branches", bodies: items.map((item) => statementsIn(item, reading)) }];
}

function readFor(node: SyntaxNode, reading: Reading): readonly Statement[] {
  const variable = node.field("variable")?.text ?? "";
  const values = node.children
    .filter(({ type }) => wordTypes.has(type))
    .map((word) => readWord(word, reading));
  const body = node.children
    .filter(({ type }) => type === "do_group" || type === "compound_statement")
    .flatMap((child) => statementsIn(child, reading));
  const hasIn = node.children.some(({ type }) => type === "in");
  return [{ type: "loop", variable, ...(hasIn && { values }), body }];
}

function readFunction(node: SyntaxNode, reading: Reading): readonly Statement[] {
  const name = node.field("name")?.text ?? "";
  return [{ type: "function", name, body: statementsIn(node, reading) }];
}

/** The scripts in the head of `for ((...))`. */
function arithmeticOf(node: SyntaxNode, reading: Reading): readonly Statement[] {
  const head = node.children.filter(({ type }) => type !== "do_group" && type !== "compound_statement");
  const pieces = head.filter(({ named }) => named).flatMap((child) => readWord(child, reading).pieces);
  const inner: ShellWord = { pieces: pieces.filter(({ type }) => type !== "text"), raw: "" };
  return [call([literal(":"), inner], ":")];
}
