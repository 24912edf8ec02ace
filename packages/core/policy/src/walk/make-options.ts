/**
 * The arguments of make: its files and folders, targets, variables, and the options that change what runs.
 */
import { escapeGlob } from "../globs/shell-glob.ts";
import { emptyWord, type Word } from "../shell/word.ts";

export interface MakeOptions {
  readonly files: readonly Word[];
  readonly folders: readonly Word[];
  readonly targets: readonly string[];
  readonly given: ReadonlyMap<string, string | undefined>;
  readonly isEvaluating: boolean;
  readonly isDry: boolean;
  readonly isInherited: boolean;
}

/** Letters with a value, attached or as the next word; all others have none. */
const valued = /^-([A-Za-z]*?)([fCIoWEjlO])(.*)$/su;

export function makeOptions(args: readonly Word[]): MakeOptions {
  const values: [string, Word][] = [];
  const plain: Word[] = [];
  let letters = "";
  for (let at = 0; at < args.length; at++) {
    const word = args[at] ?? emptyWord;
    const option = word.text.startsWith("--") ? longOption(word) : shortOption(word);
    letters += option?.letters ?? "";
    if (!option) plain.push(word);
    if (!option || option.name === "") continue;
    values.push([option.name, option.value ?? args[at + 1] ?? emptyWord]);
    if (isFollowed(option)) at++;
  }
  const of = (name: string): readonly Word[] =>
    values.filter(([one]) => one === name).map(([, word]) => word);
  return {
    files: of("f"),
    folders: of("C"),
    ...namedIn(plain),
    isEvaluating: of("E").length > 0,
    isDry: letters.includes("n"),
    isInherited: letters.includes("e"),
  };
}

function namedIn(words: readonly Word[]): Pick<MakeOptions, "targets" | "given"> {
  const targets: string[] = [];
  const given = new Map<string, string | undefined>();
  for (const { text, isLiteral } of words) {
    const [, name, value = ""] = /^([\w.]+)\s*[:?+]{0,3}=([\s\S]*)$/u.exec(text) ?? [];
    if (name === undefined) targets.push(text);
    else given.set(name, isLiteral ? value : undefined);
  }
  return { targets, given };
}

/** Whether its value is the next word: the number after `-j` is attached. */
function isFollowed({ name, value }: Option): boolean {
  return value === undefined && /[fCIoWE]/u.test(name);
}

interface Option {
  readonly letters: string;
  readonly name: string;
  readonly value?: Word;
}

function shortOption(word: Word): Option | undefined {
  if (!word.text.startsWith("-") || word.text === "-") return undefined;
  const [, letters = word.text.slice(1), name = "", rest = ""] = valued.exec(word.text) ?? [];
  return { letters, name, ...(rest !== "" && { value: { ...word, text: rest, glob: escapeGlob(rest) } }) };
}

/** Each may be abbreviated while it stays unambiguous. */
const longNames: readonly (readonly [string, string])[] = [
  ["--file", "f"],
  ["--makefile", "f"],
  ["--directory", "C"],
  ["--eval", "E"],
  ["--include-dir", "I"],
];

function longOption(word: Word): Option {
  const [name = "", ...rest] = word.text.split("=");
  if (/^--(?:just-print|dry-run|recon)$/u.test(name)) return { letters: "n", name: "" };
  if (name === "--environment-overrides") return { letters: "e", name: "" };
  const [, letter = ""] = longNames.find(([long]) => name.length > 4 && long.startsWith(name)) ?? [];
  const value = rest.join("=");
  return {
    letters: "",
    name: letter,
    ...(rest.length > 0 && { value: { ...word, text: value, glob: escapeGlob(value) } }),
  };
}
