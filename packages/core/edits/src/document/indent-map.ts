/** Maps the model's indentation to the file's, learned from the lines that both have. */

/** The indentations of one line: the model's, and the file's. */
export interface IndentPair {
  readonly model: string;
  readonly file: string;
}

/** Undefined if the shared lines do not tell. */
export type IndentMap = (indent: string) => string | undefined;

/** `written` are all indentations the model wrote, `unit` is one level of the file's. */
export function indentMap(
  pairs: readonly IndentPair[],
  { written, unit }: { readonly written: readonly string[]; readonly unit: string },
): IndentMap {
  if (pairs.every(({ model, file }) => model === file)) return (indent) => indent;
  const mapped = mapOf(pairs, { written, unit });
  return (indent) => (isOfFileAlone(indent, pairs) ? indent : mapped(indent));
}

/** Whitespace of the file's kind, if no line that the model copied uses that kind. */
function isOfFileAlone(indent: string, pairs: readonly IndentPair[]): boolean {
  const [kind] = indent;
  if (kind === undefined || !isOneKind(indent) || !pairs.some(({ model }) => model !== "")) return false;
  return pairs.every(({ model }) => !model.includes(kind)) && pairs.some(({ file }) => file.startsWith(kind));
}

function mapOf(
  pairs: readonly IndentPair[],
  { written, unit }: { readonly written: readonly string[]; readonly unit: string },
): IndentMap {
  const scale = scaleOf(pairs, { step: stepOf(written), unit });
  if (scale) return scale;
  const shift = shiftOf(pairs, converterOf(pairs, { written, unit }));
  if (shift) return shift;
  const known = functionOf(pairs);
  const line = lineThrough(pairs, { written, unit });
  return (indent) => known.get(indent) ?? line?.(indent);
}

/** The model's levels have another width than the file's, without a shift. */
function scaleOf(
  pairs: readonly IndentPair[],
  { step, unit }: { readonly step: number; readonly unit: string },
): IndentMap | undefined {
  const isSpaces = pairs.every(({ model, file }) => /^ *$/.test(model) && /^ *$/.test(file));
  if (!isSpaces || unit === "\t" || step === unit.length) return undefined;
  const levels = pairs.map(({ model }) => model.length / step);
  if (!levels.some((level) => level > 0)) return undefined;
  if (
    !pairs.every(
      ({ file }, i) => Number.isInteger(levels[i]) && file.length === (levels[i] ?? 0) * unit.length,
    )
  )
    return undefined;
  return (indent) => {
    const level = indent.length / step;
    return isOneKind(indent) && Number.isInteger(level) ? unit.repeat(level) : undefined;
  };
}

/** The same indentation is added everywhere, or removed. */
function shiftOf(pairs: readonly IndentPair[], converted: (indent: string) => string): IndentMap | undefined {
  const [first] = pairs;
  if (!first) return undefined;
  if (first.file.endsWith(first.model)) {
    const more = first.file.slice(0, first.file.length - first.model.length);
    if (pairs.every(({ model, file }) => file === more + model)) return (indent) => more + converted(indent);
  }
  if (first.model.endsWith(first.file)) {
    const less = first.model.slice(0, first.model.length - first.file.length);
    if (pairs.every(({ model, file }) => model === less + file)) {
      return (indent) => (indent.startsWith(less) ? indent.slice(less.length) : undefined);
    }
  }
  return undefined;
}

/** Deeper levels of a model that wrote no indentation the file has too: its kind of whitespace becomes the file's. */
/** The model's whitespace in the file's kind, level for level. */
export function inKindOf(unit: string, written: readonly string[]): (indent: string) => string {
  return converterOf([], { written, unit });
}

function converterOf(
  pairs: readonly IndentPair[],
  { written, unit }: { readonly written: readonly string[]; readonly unit: string },
): (indent: string) => string {
  const isProven = pairs.some(({ model }) => model !== "");
  const step = stepOf(written);
  return (indent) => {
    if (isProven || indent === "") return indent;
    if (unit === "\t" && /^ +$/.test(indent)) return inUnits(indent.length / step, { unit, step });
    if (unit !== "\t" && /^\t+$/.test(indent)) return unit.repeat(indent.length);
    return indent;
  };
}

function functionOf(pairs: readonly IndentPair[]): ReadonlyMap<string, string> {
  const known = new Map<string, string>();
  const torn = new Set<string>();
  for (const { model, file } of pairs) {
    if ((known.get(model) ?? file) !== file) torn.add(model);
    known.set(model, file);
  }
  for (const indent of torn) known.delete(indent);
  return known;
}

/** Maps levels of one width to another: through the known pairs, or through no indentation. */
function lineThrough(
  pairs: readonly IndentPair[],
  { written, unit }: { readonly written: readonly string[]; readonly unit: string },
): IndentMap | undefined {
  if (!pairs.every(({ model, file }) => isOneKind(model) && isOneKind(file))) return undefined;
  const kind = pairs.map(({ file }) => file).find((file) => file !== "")?.[0] ?? unit[0] ?? " ";
  const points = new Map(pairs.map(({ model, file }) => [model.length, file.length]));
  if (pairs.some(({ model, file }) => points.get(model.length) !== file.length)) return undefined;
  const sorted = [...points].sort(([a], [b]) => a - b);
  const [low, high] = [sorted[0], sorted.at(-1)];
  if (!low || !high) return undefined;
  const step = stepOf(written);
  const level = kind === unit[0] ? unit.length : 1;
  const slope = high[0] > low[0] ? (high[1] - low[1]) / (high[0] - low[0]) : slopeOf(low, { step, level });
  if (slope <= 0 || sorted.some(([x, y]) => low[1] + slope * (x - low[0]) !== y)) return undefined;
  // A line that only lost its indentation says nothing about the width of levels.
  if (kind === " " && slope < 1 && !Number.isInteger(1 / slope)) return undefined;
  if (low[0] === 0 && low[1] > 0) return undefined;
  return (indent) => {
    const width = low[1] + slope * (indent.length - low[0]);
    if (!isOneKind(indent) || width < 0) return undefined;
    const whole = Math.floor(width + 1e-9);
    // A partial level is alignment: spaces.
    return kind.repeat(whole) + " ".repeat(Math.round((width - whole) / slope));
  };
}

function slopeOf([x, y]: readonly [number, number], by: { step: number; level: number }): number {
  return x > 0 && y > 0 && x % y === 0 ? y / x : x > 0 && y > 0 && y % x === 0 ? y / x : by.level / by.step;
}

function inUnits(levels: number, { unit, step }: { unit: string; step: number }): string {
  const whole = Math.floor(levels);
  return unit.repeat(whole) + " ".repeat(Math.round((levels - whole) * step));
}

/** One level of the model's text: the greatest common divisor of its depths; 4 if that says nothing. */
function stepOf(written: readonly string[]): number {
  const widths = written.filter((indent) => indent !== "").map((indent) => indent.length);
  if (written.some((indent) => indent.startsWith("\t"))) return 1;
  const divisor = widths.reduce((a, b) => gcd(a, b), 0);
  return divisor >= 2 && divisor <= 8 ? divisor : 4;
}

function gcd(a: number, b: number): number {
  return b === 0 ? a : gcd(b, a % b);
}

function isOneKind(indent: string): boolean {
  return /^(?: *|\t*)$/.test(indent);
}

/**
 * One level of indentation in a file: a tab, or the most frequent small difference between neighboring lines.
 */
export function indentUnit(lines: readonly string[]): string {
  const counts = new Map<number, number>();
  let tabs = 0;
  let last = 0;
  for (const line of lines) {
    if (line.trim() === "") continue;
    if (line.startsWith("\t")) tabs++;
    const width = /^ */.exec(line)?.[0].length ?? 0;
    const step = width - last;
    if (step >= 2 && step <= 8) counts.set(step, (counts.get(step) ?? 0) + 1);
    last = width;
  }
  const [best] = [...counts].sort(([a, m], [b, n]) => n - m || a - b);
  if (tabs > 0 && tabs >= (best?.[1] ?? 0)) return "\t";
  return " ".repeat(best?.[0] ?? 4);
}
