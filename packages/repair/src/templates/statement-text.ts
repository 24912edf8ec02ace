/** Indentation of statements that move. */

/** The file's step of indentation. */
export function indentUnit(source: string): string {
  const steps = source.match(/^(\t| {2,})(?=\S)/gm) ?? [];
  if (steps.some((step) => step === "\t")) return "\t";
  return steps.reduce((least, step) => (step.length < least.length ? step : least), steps[0] ?? "    ");
}

/** Statement text whose later lines are moved from one indentation to another. */
export function reindent(text: string, from: string, to: string): string {
  return text
    .split("\n")
    .map((line, index) => (index > 0 && line.startsWith(from) ? to + line.slice(from.length) : line))
    .join("\n");
}
