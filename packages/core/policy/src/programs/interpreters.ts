/** Interpreters that run code of their own language: from an argument, from standard input, or from a file. */

import type { Word } from "../shell/word.ts";
import { loadedBy } from "./loading-options.ts";
import { type ProgramCall, positional, without } from "./program-call.ts";

export interface Interpreted {
  /** Code in the arguments. */
  readonly code: readonly Word[];
  /** Whether it reads its program from standard input. */
  readonly isFed: boolean;
  /** The file it runs. */
  readonly file?: Word;
  /** The module it runs. */
  readonly module?: Word;
  /** Further files that it loads. */
  readonly loaded?: readonly Word[];
  /** It loads code that is not read. */
  readonly isOpaque?: boolean;
}

/** Options that take code as the next word. */
const byProgram: Readonly<Record<string, RegExp>> = {
  python: /^-[A-Za-z]*c$/u,
  node: /^(?:-e|-p|-pe|-ep|--eval|--print)$/u,
  bun: /^(?:-e|--eval|-p|--print)$/u,
  deno: /^(?!)$/u,
  tsx: /^(?:-e|-p|--eval)$/u,
  "ts-node": /^(?:-e|-p|-pe|--eval)$/u,
  perl: /^-[A-Za-z0-9]*[eE]$/u,
  ruby: /^-[A-Za-z]*e$/u,
  php: /^-[rBRE]$/u,
  lua: /^-e$/u,
  luajit: /^-e$/u,
  Rscript: /^-e$/u,
  R: /^-e$/u,
  julia: /^(?:-e|-E|--eval)$/u,
  elixir: /^(?:-e|--eval)$/u,
  erl: /^-eval$/u,
  ghc: /^-e$/u,
  scala: /^-e$/u,
  groovy: /^-e$/u,
  osascript: /^-e$/u,
  pwsh: /^(?:-c|-C|-Command|-command|-EncodedCommand|-e|-ec)$/u,
  powershell: /^(?:-c|-C|-Command|-command|-EncodedCommand|-e|-ec)$/u,
  guile: /^-c$/u,
  sbcl: /^--eval$/u,
  emacs: /^(?:--eval|-eval)$/u,
  vim: /^(?:-[A-Za-z]*c|--cmd)$/u,
  nvim: /^(?:-[A-Za-z]*c|--cmd)$/u,
  vi: /^-[A-Za-z]*c$/u,
  ex: /^-[A-Za-z]*c$/u,
  gdb: /^--?(?:ex|eval-command|iex|init-eval-command)$/u,
  lldb: /^(?:-o|-O|--one-line|--one-line-before-file)$/u,
  m4: /^(?!)$/u,
  dc: /^(?:-e|--expression)$/u,
  jshell: /^(?!)$/u,
  ghci: /^-e$/u,
  irb: /^(?!)$/u,
  iex: /^(?:-e|--eval)$/u,
  racket: /^-e$/u,
  clojure: /^-[A-Za-z]*e$/u,
  swipl: /^-g$/u,
  ocaml: /^-e$/u,
  gnuplot: /^-e$/u,
  octave: /^--eval$/u,
  raku: /^-e$/u,
  crystal: /^eval$/u,
  nu: /^(?:-c|--commands)$/u,
  xonsh: /^-c$/u,
  tclsh: /^(?!)$/u,
  expect: /^-c$/u,
  awk: /^(?!)$/u,
  ed: /^(?!)$/u,
};

const aliases: Readonly<Record<string, string>> = {
  nodejs: "node",
  gawk: "awk",
  mawk: "awk",
  nawk: "awk",
  pypy: "python",
  pypy3: "python",
  ipython: "python",
};

/** The first argument is the code. */
const codeFirst: ReadonlySet<string> = new Set(["awk"]);

/** The language of a program's name, without version; undefined if it is no interpreter. */
export function languageOf(program: string): string | undefined {
  const plain =
    aliases[program] ?? (/^(python|ruby|perl|php|lua|node)[\d.]+$/u.exec(program)?.[1] || program);
  return Object.hasOwn(byProgram, plain) ? plain : undefined;
}

export function interpreterOf(call: ProgramCall): Interpreted | undefined {
  const language = languageOf(call.program);
  const option = language === undefined ? undefined : byProgram[language];
  if (language === undefined || !option) return undefined;
  const { args } = call;
  if (codeFirst.has(language)) return awkCode(args);
  if (language === "deno") return denoCode(args);
  const code = args.flatMap((word, i) => {
    if (option.test(word.text)) return args[i + 1] ?? [];
    const isCommand = /^\+[^\d/]/u.test(word.text) && /^(?:n?vim|vi|ex)$/u.test(language);
    if (isCommand) return [without(word, "+")];
    const attached = /^(?:--eval=|--print=|-c(?=\S)|-e(?=\S)|-r(?=\S))/u.exec(word.text)?.[0];
    return attached !== undefined &&
      word.text.length > attached.length &&
      option.test(attached.replace("=", ""))
      ? [{ ...word, text: word.text.slice(attached.length) }]
      : [];
  });
  const { files, isOpaque, values } = loadedBy(language, args);
  const loads = { loaded: files, isOpaque };
  const named = args.findIndex((word) => !word.text.startsWith("-") && !values.has(word));
  if (code.length > 0) return { code, isFed: false, ...loads };
  const isModule = args.some(({ text }, i) => text === "-m" && (named < 0 || i < named));
  const file = isModule ? undefined : args[named];
  const module = isModule ? args[args.findIndex(({ text }) => text === "-m") + 1] : undefined;
  const isAsked = args.some(({ text }) => /^(?:--?version|-V|-v|--help|-h|--check|--test)$/u.test(text));
  const isFed =
    !isModule && !isAsked && (file === undefined || file.text === "-" || file.text === "/dev/stdin");
  return { code: [], isFed, ...loads, ...(file && !isFed && { file }), ...(module && { module }) };
}

function awkCode(args: readonly Word[]): Interpreted {
  const at = args.findIndex(({ text }) => text === "-f" || text === "--file");
  const file = at < 0 ? undefined : args[at + 1];
  if (file) return { code: [], isFed: false, file };
  const plain = args.filter(
    ({ text }, i) => !/^-[Fv]$/u.test(args[i - 1]?.text ?? "") && !text.startsWith("-"),
  );
  return { code: plain.slice(0, 1), isFed: false };
}

function denoCode(args: readonly Word[]): Interpreted {
  const [first, second] = positional(args);
  if (first?.text === "eval") return { code: second ? [second] : [], isFed: false };
  if (first?.text === "run")
    return { code: [], isFed: second?.text === "-", ...(second && { file: second }) };
  return { code: [], isFed: false };
}

const compilers: ReadonlySet<string> = new Set(
  (
    "gcc g++ cc c++ clang clang++ tcc go rustc javac java swift swiftc kotlinc kotlin zig nim dart crystal fpc dmd " +
    "ldc2 gfortran mcs csc ghc runghc scalac valac v odin"
  ).split(" "),
);

/** The sources that a compiler, or a program that compiles and runs, gets; `-` means its input. */
export function compiledFiles({ program, args }: ProgramCall): readonly Word[] {
  if (!compilers.has(program.replace(/-\d+$/u, ""))) return [];
  return args.filter(({ text }) => text === "-" || /^[^-].*\.\w+$/u.test(text));
}
