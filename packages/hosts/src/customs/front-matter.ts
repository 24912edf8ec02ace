/** Front matter: the fields at the head of a Markdown file, in the part of YAML that such files are written in. */

export type Field = string | readonly string[] | Fields;
export interface Fields {
  readonly [name: string]: Field;
}

export interface Markdown {
  readonly fields: Fields;
  readonly body: string;
}

const longestLine = 2000;

/** A sentence when the head cannot be read; a file without one is all body. */
export function readFrontMatter(text: string): Markdown | string {
  const plain = text.replace(/^\uFEFF/u, "").replaceAll("\r\n", "\n");
  if (!/^---[ \t]*\n/u.test(plain)) return { fields: {}, body: plain };
  const head = /^---[ \t]*\n([\s\S]*?)(?<=\n)---[ \t]*(?:\n|$)/u.exec(plain);
  if (!head) return "its head has no end: a line of three hyphens";
  const written = (head[1] ?? "").split("\n");
  if (written.some((line) => line.length > longestLine))
    return `a line of its head is longer than ${longestLine} characters`;
  const lines = written.filter((line) => line.trim() !== "" && !/^\s*#/u.test(line));
  const read = readFields({ lines, at: 0 }, 0);
  return typeof read === "string" ? read : { fields: read, body: plain.slice(head[0].length) };
}

interface Reading {
  readonly lines: readonly string[];
  at: number;
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}

function readFields(reading: Reading, indent: number): Fields | string {
  const fields: Record<string, Field> = Object.create(null);
  for (;;) {
    const line = reading.lines[reading.at];
    if (line === undefined || indentOf(line) < indent) return fields;
    const [, name, value = ""] = /^\s*([\w-]+)[ \t]*:(?:[ \t]+(.*))?$/u.exec(line) ?? [];
    if (name === undefined || indentOf(line) > indent)
      return `this line is no \`name: value\`: ${line.trim()}`;
    reading.at++;
    const field = readField(reading, value.trim(), indent);
    if (typeof field === "object" && "problem" in field && typeof field.problem === "string")
      return field.problem;
    fields[name] = field as Field;
  }
}

function readField(reading: Reading, value: string, indent: number): Field | { readonly problem: string } {
  if (/^[|>][+-]?$/u.test(value)) return blockText(reading, indent, value.startsWith("|"));
  if (value !== "") return value.startsWith("[") ? inlineList(value) : unquoted(value);
  const next = reading.lines[reading.at] ?? "";
  if (/^\s*- /u.test(next) && indentOf(next) >= indent) return blockList(reading, indentOf(next));
  if (indentOf(next) <= indent) return "";
  const inner = readFields(reading, indentOf(next));
  return typeof inner === "string" ? { problem: inner } : inner;
}

function blockText(reading: Reading, indent: number, isLiteral: boolean): string {
  const lines: string[] = [];
  for (let line = reading.lines[reading.at]; line !== undefined; line = reading.lines[reading.at]) {
    if (indentOf(line) <= indent) break;
    lines.push(line.trim());
    reading.at++;
  }
  return lines.join(isLiteral ? "\n" : " ");
}

function blockList(reading: Reading, indent: number): readonly string[] {
  const items: string[] = [];
  for (let line = reading.lines[reading.at]; line !== undefined; line = reading.lines[reading.at]) {
    if (indentOf(line) !== indent || !/^\s*- /u.test(line)) break;
    items.push(unquoted(line.trim().slice(2).trim()));
    reading.at++;
  }
  return items;
}

function inlineList(value: string): readonly string[] {
  return namesIn(value.replace(/^\[/u, "").replace(/\]$/u, "")).map(unquoted);
}

function unquoted(value: string): string {
  const [, quote, inner = ""] = /^(["'])([\s\S]*)\1$/u.exec(value) ?? [];
  if (quote === undefined) return withoutComment(value);
  return quote === '"' ? inner.replace(/\\(["\\])/gu, "$1") : inner.replaceAll("''", "'");
}

function withoutComment(value: string): string {
  const at = value.search(/\s#/u);
  return at < 0 ? value : value.slice(0, at).trimEnd();
}

/** `a, b` as its parts; commas within brackets part nothing. Looks at each character once: others wrote the text. */
function namesIn(text: string): readonly string[] {
  const parts: string[] = [];
  const lastClosing = text.lastIndexOf(")");
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    const opens = text[at] === "(";
    if (opens && at < lastClosing) at = text.indexOf(")", at);
    else if (opens || text[at] === ",") {
      parts.push(text.slice(start, at));
      start = at + 1;
    }
  }
  return [...parts, text.slice(start)].map((part) => part.trim()).filter((part) => part !== "");
}

export function isFields(field: Field): field is Fields {
  return typeof field === "object" && !Array.isArray(field);
}

/** A field of names, written as a list or with commas; undefined when it is not there. */
export function listOf(fields: Fields, name: string): readonly string[] | undefined {
  const field = fields[name];
  if (field === undefined) return undefined;
  if (typeof field === "string") return namesIn(field);
  return Array.isArray(field) ? field : [];
}

export function textOf(fields: Fields, name: string): string | undefined {
  const field = fields[name];
  return typeof field === "string" && field.trim() !== "" ? field.trim() : undefined;
}
