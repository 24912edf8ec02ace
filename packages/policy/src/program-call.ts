/** A simple command seen as a program with its arguments, through the wrappers that only start another program. */
import type { Word } from "./shell-lexer.ts";

export interface ProgramCall {
  /** The program's name without its folder. */
  readonly program: string;
  readonly args: readonly Word[];
  /** Whether further arguments come from standard input. */
  readonly hasMoreArgs: boolean;
}

/** Wrappers and their options that take a value of their own. */
const wrappers: Readonly<Record<string, string>> = {
  command: "",
  builtin: "",
  exec: "-a",
  nohup: "",
  setsid: "",
  time: "-f -o",
  nice: "-n",
  ionice: "-c -n -p",
  stdbuf: "-i -o -e",
  timeout: "-k -s",
  env: "-u -C -S",
  sudo: "-u -g -h -p -C",
  doas: "-u",
  xargs: "-I -n -P -L -d -s -E -a",
  watch: "-n",
  chronic: "",
  busybox: "",
};

/** The call a command makes and, when that is a wrapper, each call inside it. */
export function callsOf(words: readonly Word[]): readonly ProgramCall[] {
  const calls: ProgramCall[] = [];
  let rest = words;
  let hasMoreArgs = false;
  while (rest[0] && calls.length < 8) {
    const program = baseName(rest[0].text);
    const args = rest.slice(1);
    calls.push({ program, args, hasMoreArgs });
    const valued = Object.hasOwn(wrappers, program) ? wrappers[program] : undefined;
    if (valued === undefined) break;
    if (program === "xargs") hasMoreArgs = true;
    rest = wrapped(program, args, valued.split(" "));
  }
  return calls;
}

/** Arguments that are not options, `--` respected. */
export function positional(args: readonly Word[]): readonly Word[] {
  const end = args.findIndex(({ text }) => text === "--");
  const before = end < 0 ? args : args.slice(0, end);
  const after = end < 0 ? [] : args.slice(end + 1);
  return [...before.filter(({ text }) => !text.startsWith("-") || text === "-"), ...after];
}

/** Whether an option stands among the arguments: `--long`, `--long=value`, or a letter among short ones. */
export function hasOption(args: readonly Word[], ...options: readonly string[]): boolean {
  return args.some(({ text }) => options.some((option) => isOption(text, option)));
}

function isOption(text: string, option: string): boolean {
  if (option.startsWith("--")) return text === option || text.startsWith(`${option}=`);
  return /^-[A-Za-z0-9]+/u.test(text) && text.includes(option.slice(1));
}

function wrapped(program: string, args: readonly Word[], valued: readonly string[]): readonly Word[] {
  let at = 0;
  while (at < args.length) {
    const text = args[at]?.text ?? "";
    if (valued.includes(text)) at += 2;
    else if (text.startsWith("-") || (isEnvLike(program) && /^\w+=/u.test(text))) at++;
    else break;
  }
  // The first word after timeout's options is how long.
  return args.slice(program === "timeout" ? at + 1 : at);
}

function isEnvLike(program: string): boolean {
  return program === "env" || program === "sudo" || program === "doas";
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
