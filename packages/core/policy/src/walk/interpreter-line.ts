/** The first line of a script file: its interpreter with options; undefined if it is a shell. */
import { literal, type Word } from "../shell/word.ts";

export function interpreterLine(text: string): readonly Word[] | undefined {
  const line = /^#![ \t]*([^\n]+)/u.exec(text)?.[1]?.trim();
  if (line === undefined) return undefined;
  const words = line.split(/\s+/u);
  const from = /(?:^|\/)env$/u.test(words[0] ?? "")
    ? words.findIndex((word, i) => i > 0 && !/^-|=/u.test(word))
    : 0;
  const [program = "", ...options] = words.slice(Math.max(0, from));
  // A program of the workspace is looked up; one of the machine is known by its name.
  const name = /^\/(?:usr|bin|sbin|opt|nix)\b/u.test(program)
    ? program.slice(program.lastIndexOf("/") + 1)
    : program;
  return /^(?:ba|da|z|k|a|mk|rba)?sh$/u.test(name) ? undefined : [name, ...options].map(literal);
}
