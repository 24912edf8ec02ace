/** Pattern: reads a regular expression as ripgrep does, for the texts that every match of it must hold. */
import { crossesLines } from "../across-lines.ts";
import { readBracket, readEscape } from "./character-class.ts";
import { anyFile, bounded, either, maxTexts, type Plan, planOf, type Stretch, textsOf } from "./plan.ts";
import { ahead, type Reading, stretchOf, UnknownSyntax } from "./reading.ts";

export interface PatternQuery {
  readonly pattern: string;
  readonly literal?: boolean;
  readonly ignoreCase?: boolean;
}

const maxCharacters = 2_000;
const deepest = 100;

/** `any` for a pattern that says nothing, or in a syntax that is not known here. */
export function planOfPattern({ pattern, literal = false, ignoreCase = false }: PatternQuery): Plan {
  const characters = [...pattern];
  // Matches across lines may hold line ends, which are in no trigram.
  if (crossesLines({ pattern, literal }) || characters.length > maxCharacters) return anyFile;
  if (literal) return planOf(characters.map((character) => stretchOf(character, ignoreCase)));
  try {
    const reading: Reading = { characters, at: 0, ignoreCase };
    const stretches = readAlternatives(reading, 0);
    return reading.at < characters.length ? anyFile : planOf(stretches);
  } catch (error) {
    if (error instanceof UnknownSyntax) return anyFile;
    throw error;
  }
}

function readAlternatives(reading: Reading, depth: number): readonly Stretch[] {
  if (depth > deepest) throw new UnknownSyntax();
  const alternatives = [readSequence(reading, depth)];
  while (reading.characters[reading.at] === "|") {
    reading.at++;
    alternatives.push(readSequence(reading, depth));
  }
  if (alternatives.length === 1) return alternatives[0] as readonly Stretch[];
  const texts = alternatives.map(textsOf);
  const known = texts.every((one) => one !== undefined) ? [...new Set(texts.flat())] : undefined;
  if (known && known.length <= maxTexts) return [known];
  return [either(alternatives.map(planOf))];
}

function readSequence(reading: Reading, depth: number): readonly Stretch[] {
  let stretches: readonly Stretch[] = [];
  for (;;) {
    const next = reading.characters[reading.at];
    if (next === undefined || next === "|" || next === ")") return stretches;
    const one = readRepeats(reading, readOne(reading, depth));
    stretches = bounded([...stretches, ...one]);
  }
}

/** Undefined for what takes no room. */
function readOne(reading: Reading, depth: number): readonly Stretch[] | undefined {
  const next = reading.characters[reading.at++] as string;
  switch (next) {
    case "(":
      return readGroup(reading, depth);
    case "[":
      return [readBracket(reading)];
    case "\\":
      return readEscape(reading);
    case ".":
      return [anyFile];
    case "^":
    case "$":
      return undefined;
    case "*":
    case "+":
    case "?":
    case "{":
      throw new UnknownSyntax();
    default:
      return [stretchOf(next, reading.ignoreCase)];
  }
}

const groupStart = /^(?:\?(?:P?<[A-Za-z_][A-Za-z0-9_.]*>|(?<flags>[imsUR-]*)(?<end>[:)])))/;

function readGroup(reading: Reading, depth: number): readonly Stretch[] | undefined {
  const before = reading.ignoreCase;
  if (reading.characters[reading.at] === "?") {
    const start = groupStart.exec(ahead(reading, 200));
    if (!start) throw new UnknownSyntax();
    reading.at += [...start[0]].length;
    const { flags = "", end } = start.groups ?? {};
    const [on = "", off = ""] = flags.split("-");
    if (on.includes("i")) reading.ignoreCase = true;
    if (off.includes("i")) reading.ignoreCase = false;
    // Flags by themselves hold for the rest of the group around them.
    if (end === ")") return undefined;
  }
  const stretches = readAlternatives(reading, depth + 1);
  if (reading.characters[reading.at++] !== ")") throw new UnknownSyntax();
  reading.ignoreCase = before;
  return stretches;
}

const counted = /^\{(\d{1,4})(?:(,)(\d{0,4}))?\}/;

function readRepeats(reading: Reading, one: readonly Stretch[] | undefined): readonly Stretch[] {
  let stretches = one ?? [];
  for (let times = readTimes(reading); times; times = readTimes(reading)) {
    stretches = bounded(repeated(stretches, times));
    // As few as possible: that says nothing of what is there.
    if (reading.characters[reading.at] === "?") reading.at++;
  }
  return stretches;
}

interface Times {
  readonly least: number;
  /** Absent when there is no bound. */
  readonly most?: number;
}

function readTimes(reading: Reading): Times | undefined {
  const next = reading.characters[reading.at];
  if (next === undefined || !"*+?{".includes(next)) return undefined;
  if (next !== "{") {
    reading.at++;
    if (next === "?") return { least: 0, most: 1 };
    return { least: next === "+" ? 1 : 0 };
  }
  const found = counted.exec(ahead(reading, 12));
  if (!found) throw new UnknownSyntax();
  reading.at += found[0].length;
  const least = Number(found[1]);
  if (found[2] === undefined) return { least, most: least };
  return found[3] === "" ? { least } : { least, most: Number(found[3]) };
}

/** Repetitions of one stretch that are followed one by one. */
const followed = 3;

function repeated(stretches: readonly Stretch[], { least, most }: Times): readonly Stretch[] {
  if (least === 0) {
    const texts = most === 1 ? textsOf(stretches) : undefined;
    return texts ? [[...new Set([...texts, ""])]] : [anyFile];
  }
  const all = Array.from({ length: Math.min(least, followed) }, () => stretches).flat();
  if (least === most && least <= followed) return all;
  // The first ones and the last one are known; what lies between is not.
  return [...all, anyFile, ...stretches];
}
