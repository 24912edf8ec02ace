/** What commands set for those after them: arguments, aliases, variables they read, other names of programs. */
import type { Environment } from "./environment.ts";
import type { ProgramCall } from "./program-call.ts";
import { emptyWord, unknown, type Word } from "./word.ts";

const argumentNames: readonly string[] = ["@", "*", ..."123456789"];

/** Returns what puts the earlier ones back. */
export function setArguments({ variables }: Environment, args: readonly Word[]): () => void {
  const before = argumentNames.map((name) => [name, variables.get(name)] as const);
  for (const name of ["@", "*"]) variables.set(name, args);
  for (let i = 1; i <= 9; i++) variables.set(String(i), [args[i - 1] ?? emptyWord]);
  return () => {
    for (const [name, value] of before) {
      if (value) variables.set(name, value);
      else variables.delete(name);
    }
  };
}

const reading: ReadonlySet<string> = new Set("read mapfile readarray getopts unset let".split(" "));
const renaming: ReadonlySet<string> = new Set("ln cp mv install hash".split(" "));

export function noteSettings(call: ProgramCall | undefined, environment: Environment): void {
  if (!call) return;
  const { program, args } = call;
  const names = args.filter(({ text }) => !text.startsWith("-"));
  if (program === "alias") noteAliases(names, environment);
  else if (reading.has(program)) {
    for (const { text } of names) forget(text.split("=", 1)[0] ?? text, environment);
  } else if (program === "printf" && args[0]?.text === "-v" && args[1]) forget(args[1].text, environment);
  else if (renaming.has(program) && names.length === 2) {
    const [from, to] = names;
    if (from && to?.isLiteral) environment.renamed.set(to.text.replace(/^\.\//u, ""), from.text);
  }
}

function noteAliases(names: readonly Word[], { aliases }: Environment): void {
  for (const { text } of names) {
    const at = text.indexOf("=");
    if (at > 0) aliases.set(text.slice(0, at), text.slice(at + 1));
  }
}

function forget(name: string, { variables }: Environment): void {
  variables.set(name, [unknown(name)]);
}

/** Whether the value of a variable is a command for the program that finds it. */
export function isCommandVariable(name: string): boolean {
  return /(?:EDITOR|PAGER|VISUAL|COMMAND|BROWSER|ASKPASS|BASH_ENV|^ENV|_SSH|SHELL)$/u.test(name);
}
