/** YAML head: front matter in all of YAML 1.2, and what people take for it. */
import { isAlias, isMap, isScalar, isSeq, parseDocument } from "yaml";
import type { Field, Fields } from "./fields.ts";

/** Characters: the time that some need grows with their square. */
const longest = 8 * 1024;

/** A sentence when it cannot be read. */
export function readYamlHead(head: string): Fields | string {
  if (head.length > longest) return `it is longer than ${longest / 1024} KB`;
  const read = readStrict(head);
  if (typeof read !== "string") return read;
  const meant = readStrict(quotedHead(head));
  return typeof meant === "string" ? read : meant;
}

/** What the reader throws. */
class Unreadable extends Error {}

function readStrict(head: string): Fields | string {
  try {
    const { contents, errors } = parseDocument(head, { logLevel: "silent", uniqueKeys: false });
    const [error] = errors;
    if (error) return error.message.split("\n", 1)[0]?.replace(/:$/u, "") ?? "";
    if (contents === null) return Object.create(null);
    return isMap(contents) ? fieldsOf(contents.items) : "it is no list of fields";
  } catch (cause) {
    // Others write such files: brackets within brackets without end are more than the reader's stack.
    if (cause instanceof RangeError) return "it is too deep";
    if (cause instanceof Unreadable) return cause.message;
    throw cause;
  }
}

function fieldsOf(pairs: readonly { readonly key: unknown; readonly value: unknown }[]): Fields {
  const fields: Record<string, Field> = Object.create(null);
  for (const { key, value } of pairs) {
    if (!isScalar(key)) throw new Unreadable("the name of a field is no word");
    const name = textOf(key);
    if (name in fields) throw new Unreadable(`${name} is there twice`);
    fields[name] = fieldOf(value);
  }
  return fields;
}

function fieldOf(node: unknown): Field {
  // They can make little text stand for more than there is memory for.
  if (isAlias(node)) throw new Unreadable(`it has an alias: *${node.source}`);
  if (isMap(node)) return fieldsOf(node.items);
  if (!isSeq(node)) return isScalar(node) ? textOf(node) : "";
  if (node.items.every((item) => isScalar(item))) return node.items.map(textOf);
  // No list of words, so nobody may take it for one.
  return Object.fromEntries(node.items.map((item, at) => [String(at), fieldOf(item)]));
}

/** As it is written: `1.10` is no number here. */
function textOf({ value, source }: { readonly value: unknown; readonly source?: string }): string {
  if (typeof value === "string") return value;
  return value === null ? "" : (source ?? String(value));
}

/** Text in a value that YAML takes for more, as in `description: Use it so: first`, is quoted. */
function quotedHead(head: string): string {
  const fields = head.split(/\n(?=#|[\w-]+[ \t]*:(?:\s|$))/u);
  return fields.map(quotedField).join("\n");
}

function quotedField(field: string): string {
  const [, name, value = ""] = /^([\w-]+)[ \t]*:[ \t]+(\S[\s\S]*)$/u.exec(field) ?? [];
  if (name === undefined || isMeant(value.trim())) return field;
  return `${name}: ${JSON.stringify(value.replace(/\s+/gu, " ").trim())}`;
}

/** Blocks, quotes, lists and maps that end where their field does, what has a name, and where a field stands below. */
function isMeant(value: string): boolean {
  if (/^[|>][-+\d]*[ \t]*\n/u.test(value) || /\n[ \t]*[\w-]+[ \t]*:(?:\s|$)/u.test(value)) return true;
  return /^(?:"[^"]*"|'[^']*'|\[[^[\]]*\]|\{[^{}]*\}|[*&][\w-]+(?:\s[\s\S]*)?)$/u.test(value);
}
