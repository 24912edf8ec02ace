/** The indentation of lines a model wrote without any, from the brackets and colons around them. */

const opener = /[{([]$|[^:]:$/;
const closer = /^(?:[})\]]|end\b|<\/)/;

export interface Flattened {
  /** Bodies of the added lines, none blank. */
  readonly added: readonly string[];
  /** The lines of the result before and after them; undefined where the replaced part ends. */
  readonly before: { readonly indent: string; readonly body: string } | undefined;
  readonly after: { readonly indent: string; readonly body: string } | undefined;
  readonly unit: string;
}

/** One indentation for each added line; undefined when the line after them does not confirm it. */
export function inferIndent({ added, before, after, unit }: Flattened): readonly string[] | undefined {
  // Brackets say nothing about the levels of a list.
  if (added.some((body) => /^(?:[-*+•]|\d+[.)]) /.test(body))) return undefined;
  let last = before ?? (after && { indent: after.indent, body: "" });
  if (!last) return undefined;
  const indents: string[] = [];
  for (const body of added) {
    const indent = nextIndent(last, body, unit);
    indents.push(indent);
    last = { indent, body };
  }
  // Where nothing follows, a line could also stand further out.
  if (!after) return undefined;
  return nextIndent(last, after.body, unit) === after.indent ? indents : undefined;
}

function nextIndent(last: { indent: string; body: string }, body: string, unit: string): string {
  const opened = opener.test(withoutComment(last.body)) ? last.indent + unit : last.indent;
  if (!closer.test(body)) return opened;
  return opened.endsWith(unit) ? opened.slice(0, opened.length - unit.length) : opened;
}

function withoutComment(body: string): string {
  return body.replace(/\s+(?:\/\/|#|--\s).*$/, "");
}
