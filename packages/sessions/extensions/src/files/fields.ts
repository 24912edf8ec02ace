/** Fields: what the head of a file says, by name, and the words in it. */

export type Field = string | readonly string[] | Fields;
export interface Fields {
  readonly [name: string]: Field;
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

/** What a file calls itself, as one word; else `other`. */
export function nameOf(fields: Fields, other: string): string {
  return (textOf(fields, "name") ?? other).replace(/\s+/gu, "-");
}

/** Letters of any script, as people name things; no sign that a prompt or a path could take for its own. */
export function isName(name: string): boolean {
  return /^[\p{L}\p{N}_.-]{1,64}$/u.test(name);
}

export function textOf(fields: Fields, name: string): string | undefined {
  const field = fields[name];
  return typeof field === "string" && field.trim() !== "" ? field.trim() : undefined;
}

/** A field that is yes or no, as YAML has it; undefined for all else. */
export function switchOf(fields: Fields, name: string): boolean | undefined {
  const word = textOf(fields, name)?.toLowerCase();
  return word === "true" || word === "false" ? word === "true" : undefined;
}
