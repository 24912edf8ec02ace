/** Fields: the values in the head of a file, by name. */

export type Field = string | readonly string[] | Fields;
export interface Fields {
  readonly [name: string]: Field;
}

export function isFields(field: Field): field is Fields {
  return typeof field === "object" && !Array.isArray(field);
}

/** A field of names, written as a list or with commas; undefined if it is missing. */
export function listOf(fields: Fields, name: string): readonly string[] | undefined {
  const field = fields[name];
  if (field === undefined) return undefined;
  if (typeof field === "string") return splitNames(field);
  return Array.isArray(field) ? field : [];
}

/** Splits at commas outside brackets. Visits each character once, because the text is not trusted. */
function splitNames(text: string): readonly string[] {
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

/** The name that a file declares, as one word; otherwise `fallback`. */
export function nameOf(fields: Fields, fallback: string): string {
  return (textOf(fields, "name") ?? fallback).replace(/\s+/gu, "-");
}

/** Letters of any script, digits and `_.-`: nothing that has a meaning in a prompt or a path. */
export function isName(name: string): boolean {
  return /^[\p{L}\p{N}_.-]{1,64}$/u.test(name);
}

export function textOf(fields: Fields, name: string): string | undefined {
  const field = fields[name];
  return typeof field === "string" && field.trim() !== "" ? field.trim() : undefined;
}

/** A boolean field; undefined for anything else. */
export function switchOf(fields: Fields, name: string): boolean | undefined {
  const word = textOf(fields, name)?.toLowerCase();
  return word === "true" || word === "false" ? word === "true" : undefined;
}
