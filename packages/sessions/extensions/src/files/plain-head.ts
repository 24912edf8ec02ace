/** Plain head: front matter that is a line of `name: value` for each field, as nearly all is; YAML would take 15 ms to load. */
import type { Field, Fields } from "./fields.ts";

/** Undefined where a line is more than that. */
export function readPlainHead(head: string): Fields | undefined {
  const fields: Record<string, Field> = Object.create(null);
  for (const line of head.split("\n")) {
    if (line.trim() === "" || /^\s*#/u.test(line)) continue;
    const [, name, value = ""] = /^([\w-]+)[ \t]*:(?:[ \t]+(.*))?$/u.exec(line) ?? [];
    const field = plainField(value.trim());
    if (name === undefined || field === undefined || name in fields) return undefined;
    fields[name] = field;
  }
  return fields;
}

function plainField(value: string): Field | undefined {
  const [, quoted] = /^"([^"\\]*)"$/u.exec(value) ?? /^'([^']*)'$/u.exec(value) ?? [];
  if (quoted !== undefined) return quoted;
  const [, list] = /^\[([^[\]{}"'#:]*)\]$/u.exec(value) ?? [];
  if (list !== undefined) return list === "" ? [] : plainList(list);
  // In YAML a star alone would be the name of something; people mean all by it.
  if (/^["'[\]{}|>&!?,-]|^\*./u.test(value)) return undefined;
  const comment = value.search(/(?:^|\s)#/u);
  return comment < 0 ? value : value.slice(0, comment).trimEnd();
}

/** Undefined where commas within brackets part nothing, or everything. */
function plainList(list: string): readonly string[] | undefined {
  if (/[()]/u.test(list)) return undefined;
  return list
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");
}
