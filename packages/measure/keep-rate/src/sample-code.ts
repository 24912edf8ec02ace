/** Sample code: files of lines whose fate is known, for artificial test histories. */
import { seededRandom } from "@lathe/protocol";

/** One line of code, or one statement laid out over several. */
export interface SampleLine {
  texts: readonly string[];
  /** Written by the agent in the session that is measured. */
  readonly isAgents: boolean;
}

export type SampleFile = SampleLine[];

const nouns = "order user price cart token query node label entry batch index route".split(" ");
const verbs = "load parse merge check build render update resolve count apply".split(" ");

export interface Sampler {
  readonly random: () => number;
  readonly pick: <T>(from: readonly T[]) => T;
  /** The lines of a function, followed by a blank one. */
  readonly sampleFunction: (isAgents: boolean) => SampleLine[];
  readonly sampleFile: (functions: number, isAgents: boolean) => SampleFile;
}

export function createSampler(seed: number): Sampler {
  const random = seededRandom(seed);
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
  const number = (below: number): number => Math.floor(random() * below);
  const name = (): string => {
    const noun = pick(nouns);
    return `${pick(verbs)}${noun[0]?.toUpperCase()}${noun.slice(1)}${number(1000)}`;
  };
  const block = (value: string): string[] =>
    pick([
      () => [`  const ${value} = ${name()}(input, '${pick(nouns)}');`],
      () => [`  if (${value}.size > ${number(90)}) {`, `    return ${name()}(${value});`, "  }"],
      () => [`  for (const one of ${value}) {`, `    result.push(${name()}(one));`, "  }"],
      () => [`  // The ${pick(nouns)} of a ${pick(nouns)} is never a ${pick(nouns)}.`],
      () => ["  let total = 0;", `  total += ${name()}(${value}, ${number(50)});`],
    ])();
  const body = (): string[] => {
    const value = pick(nouns);
    return ["  const result = [];", ...block(value), ...block(value), ...block(value)];
  };
  const sampleFunction = (isAgents: boolean): SampleLine[] =>
    [`export function ${name()}(input, options) {`, ...body(), "  return result;", "}", ""].map((text) => ({
      texts: [text],
      isAgents,
    }));
  return {
    random,
    pick,
    sampleFunction,
    sampleFile: (functions, isAgents) =>
      Array.from({ length: functions }, () => sampleFunction(isAgents)).flat(),
  };
}

export function sampleText(file: SampleFile): string {
  return file.flatMap(({ texts }) => texts.map((text) => `${text}\n`)).join("");
}

/** The functions of a file, each with the blank line after it. */
export function functionsOf(file: SampleFile): SampleFile[] {
  const functions: SampleFile[] = [];
  let open: SampleFile = [];
  for (const line of file) {
    open.push(line);
    if (line.texts.join("").trim() !== "") continue;
    functions.push(open);
    open = [];
  }
  return open.length > 0 ? [...functions, open] : functions;
}

/** A formatter's layout: four spaces, double quotes, no semicolons, calls with a text wrapped. */
export function formatLine(line: SampleLine): SampleLine {
  const [text = ""] = line.texts;
  const indented = text.replace(/^( *)/, "$1$1").replaceAll("'", '"').replace(/;$/, "");
  const call = /^(\s*)(const \w+ = \w+\()(\w+), (".*")\)$/.exec(indented);
  if (!call) return { ...line, texts: [indented] };
  const [, space = "", head = "", first = "", second = ""] = call;
  return {
    ...line,
    texts: [`${space}${head}`, `${space}    ${first},`, `${space}    ${second},`, `${space})`],
  };
}
