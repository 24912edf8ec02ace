/** Infers the indentation of lines a model wrote without any, from the brackets and colons around them. */

const opener = /[{([]$|[^:]:$/;
const closer = /^(?:[})\]]|end\b|<\/)/;

export interface Flattened {
  /** The added lines with the model's indentation, none blank. */
  readonly added: readonly { readonly indent: string; readonly body: string }[];
  /** The lines of the result before and after them; undefined at the end of the replaced part. */
  readonly before: { readonly indent: string; readonly body: string } | undefined;
  readonly after: { readonly indent: string; readonly body: string } | undefined;
  readonly unit: string;
}

/** One indentation for each added line; undefined if the line after them does not confirm it. */
export function inferIndent({ added, before, after, unit }: Flattened): readonly string[] | undefined {
  // Brackets say nothing about the levels of a list.
  if (added.some(({ body }) => /^(?:[-*+•]|\d+[.)]) /.test(body))) return undefined;
  let last: Line | undefined = before ?? (after && { indent: after.indent, body: "" });
  if (!last) return undefined;
  const known = new Map<string, string>();
  const indents: string[] = [];
  let model = added[0]?.indent ?? "";
  for (const { indent, body } of added) {
    // Relative to each other, the lines keep the model's indentation.
    const deeper: string | undefined = indent.startsWith(model)
      ? last.indent + indent.slice(model.length)
      : undefined;
    const place: string | undefined =
      indent === model ? nextIndent(last, body, unit) : (known.get(indent) ?? deeper);
    if (place === undefined) return undefined;
    known.set(indent, place);
    indents.push(place);
    model = indent;
    last = { indent: place, body };
  }
  // If no line follows, a line could also be indented less.
  return after && isConfirmed(last, after, { unit, indents }) ? indents : undefined;
}

interface Line {
  readonly indent: string;
  readonly body: string;
}

/**
 * The next line is indented as expected after the last added line, or after the first line of a long
 * statement.
 */
function isConfirmed(
  last: Line,
  after: Line,
  { unit, indents }: { readonly unit: string; readonly indents: readonly string[] },
): boolean {
  const first = indents.find((indent) => indent.length < last.indent.length);
  return (
    nextIndent(last, after.body, unit) === after.indent || (first !== undefined && first === after.indent)
  );
}

function nextIndent(last: { indent: string; body: string }, body: string, unit: string): string {
  const opened = opener.test(withoutComment(last.body)) ? last.indent + unit : last.indent;
  if (!closer.test(body)) return opened;
  return opened.endsWith(unit) ? opened.slice(0, opened.length - unit.length) : opened;
}

function withoutComment(body: string): string {
  return body.replace(/\s+(?:\/\/|#|--\s).*$/, "");
}
