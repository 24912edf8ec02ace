/** The first line of a program that is a text: what runs it, with its options; undefined where a shell does. */
import { literal, type Word } from "../shell/word.ts";

export function interpreterLine(text: string): readonly Word[] | undefined {
  const line = /^#![ \t]*([^\n]+)/u.exec(text)?.[1]?.trim();
  if (line === undefined) return undefined;
  const words = line.split(/\s+/u);
  const from = /(?:^|\/)env$/u.test(words[0] ?? "")
    ? words.findIndex((word, i) => i > 0 && !/^-|=/u.test(word))
    : 0;
  const [program = "", ...options] = words.slice(Math.max(0, from));
  // A program of the workspace is looked at as such; one of the machine by its name.
  const name = /^\/(?:usr|bin|sbin|opt|nix)\b/u.test(program)
    ? program.slice(program.lastIndexOf("/") + 1)
    : program;
  return /^(?:ba|da|z|k|a|mk|rba)?sh$/u.test(name) ? undefined : [name, ...options].map(literal);
}
