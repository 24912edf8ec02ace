/** A line as indentation, body and trailing whitespace. */

export interface LineParts {
  readonly indent: string;
  readonly body: string;
  readonly trailing: string;
}

export function lineParts(line: string): LineParts {
  const body = line.trim();
  if (body === "") return { indent: "", body, trailing: line };
  const start = line.indexOf(body);
  return { indent: line.slice(0, start), body, trailing: line.slice(start + body.length) };
}
