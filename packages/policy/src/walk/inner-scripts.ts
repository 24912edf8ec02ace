/** The scripts that a program call runs: given as an argument, fed to it, looked up in a file, or another name's. */

import { escapeGlob } from "../globs/shell-glob.ts";
import type { Inner, Input, Looking } from "../programs/inner.ts";
import { interpreterOf } from "../programs/interpreters.ts";
import { callsOf, optionValues, type ProgramCall, positional, without } from "../programs/program-call.ts";
import type { Word } from "../shell/word.ts";
import { aliasRuns, gitRuns } from "./git-runs.ts";
import { hiddenCommands } from "./hidden-commands.ts";
import { listedScripts, makeScripts, nodeScripts, packageScripts } from "./project-scripts.ts";
import { isCommandVariable } from "./settings.ts";

const shells: ReadonlySet<string> = new Set("bash sh dash zsh ksh ash rbash mksh fish".split(" "));

type Find = (call: ProgramCall, input: Input | undefined, looking: Looking) => readonly Inner[];

const byProgram: Readonly<Record<string, Find>> = {
  eval: ({ args }) => [{ type: "script", text: joined(args), isOwnShell: false }],
  trap: ({ args }) => positional(args).slice(0, 1).map(asScript),
  source: sourced,
  ".": sourced,
  watchexec: ({ args }) => [{ type: "script", text: joined(positional(args)), isOwnShell: true }],
  watch: ({ args }) => [{ type: "script", text: joined(positional(args)), isOwnShell: true }],
  hyperfine: ({ args }) => positional(args).map(asScript),
  concurrently: ({ args }) => positional(args).map(asScript),
  "npm-run-all": listedScripts,
  "run-s": listedScripts,
  "run-p": listedScripts,
  node: nodeScripts,
  parallel: ({ args }) => {
    const at = args.findIndex(({ text }) => text.startsWith(":::"));
    return at === 0 ? args.slice(1).map(asScript) : joinedScripts(args.slice(0, at < 0 ? undefined : at));
  },
  xargs: (call, input) => fedWords(call, input),
  tmux: ({ args }) => args.filter(({ text }) => /\s/u.test(text)).map(asScript),
  sed: sedRuns,
  gsed: sedRuns,
  git: (call, _, looking) => [...gitRuns(call), ...aliasRuns(call, looking)],
  make: makeRuns,
  gmake: makeRuns,
  npm: packageScripts,
  pnpm: packageScripts,
  yarn: packageScripts,
  bun: packageScripts,
};

export function innerOf(call: ProgramCall, input: Input | undefined, looking: Looking): readonly Inner[] {
  const { program, args, isUndecided } = call;
  if (isUndecided) return [];
  if (shells.has(program)) return shellRuns(args, input);
  const find = Object.hasOwn(byProgram, program) ? byProgram[program] : undefined;
  const dressed = [
    ...(dressing.has(program) ? args.flatMap(dressedScript) : []),
    ...hiddenCommands(call).map(asScript),
  ];
  if (find) return [...dressed, ...find(call, input, looking)];
  if (dressing.has(program) || dressed.length > 0) return dressed;
  if (interpreterOf(call)) return [];
  // A file that is run by its name.
  return call.word.text.includes("/") &&
    call.word.isLiteral &&
    !/^\/(?:usr|bin|sbin|opt|nix)\b/u.test(call.word.text)
    ? [{ type: "file", path: call.word, args, isOwnShell: true }]
    : [];
}

/** What is known of the names that xargs is fed with. */
function fedWords({ word, args }: ProgramCall, input: Input | undefined): readonly Inner[] {
  const [, run] = callsOf([word, ...args]);
  const names = input?.text?.split(/\s+/u).filter(Boolean) ?? [];
  if (!run || names.length === 0) return [];
  return [{ type: "words", words: [run.word, ...run.args, ...names.map(literal)] }];
}

/** Sed runs commands by `e`, and writes files by `w`: also behind `s///`. */
function sedRuns({ args }: ProgramCall): readonly Inner[] {
  const given = optionValues(args, "-e", "--expression");
  const scripts = given.length > 0 ? given : positional(args).slice(0, 1);
  return scripts.filter(isRunningSed).map((word) => ({ type: "undecided", text: `sed ${word.raw}` }));
}

function isRunningSed({ text }: Word): boolean {
  const rest = text.replace(
    /(?<![A-Za-z])[sy]([^\w\s\\])(?:\\[\s\S]|(?!\1)[^\\])*\1(?:\\[\s\S]|(?!\1)[^\\])*\1/gu,
    "\0",
  );
  return /\0[0-9gpiImM]*[ew]/u.test(rest) || /(?:^|[;{}\n\d$/!])\s*[eWw](?:\s|$)/u.test(rest);
}

function makeRuns(call: ProgramCall, input: Input | undefined, looking: Looking): readonly Inner[] {
  const files = optionValues(call.args, "-f", "--file", "--makefile");
  const isFed = files.some(({ text, isLiteral }) => !isLiteral || /^(?:-|\/dev\/stdin)$/u.test(text));
  const isGiven = optionValues(call.args, "--eval", "-E").length > 0;
  return isFed || isGiven
    ? [{ type: "undecided", text: "rules that make is given" }]
    : makeScripts(call, input, looking);
}

const dressing: ReadonlySet<string> = new Set("env sudo doas cross-env systemd-run".split(" "));

/** `env PAGER=... git log`: an assignment in the arguments. */
function dressedScript(word: Word): readonly Inner[] {
  const name = /^(\w+)=./su.exec(word.text)?.[1];
  return name !== undefined && isCommandVariable(name) ? [asScript(without(word, `${name}=`))] : [];
}

function shellRuns(args: readonly Word[], input: Input | undefined): readonly Inner[] {
  const at = args.findIndex(({ text }) => /^-[A-Za-z]*c[A-Za-z]*$/u.test(text));
  if (at >= 0) {
    // Further options may stand between `-c` and its script.
    const rest = args.slice(at + 1);
    const from = rest.findIndex(({ text }) => !/^[-+]/u.test(text));
    const [text, , ...own] = from < 0 ? [] : rest.slice(from);
    return text ? [{ type: "script", text, isOwnShell: true, args: own }] : [];
  }
  const end = args.findIndex(
    ({ text }, i) => !/^[-+]/u.test(text) && !/^[-+][oO]$/u.test(args[i - 1]?.text ?? ""),
  );
  const file = hasStdin(args) || end < 0 ? undefined : args[end];
  if (file && file.text !== "/dev/stdin" && file.text !== "-") {
    if (!file.isLiteral) return [{ type: "undecided", text: `the script ${file.raw}` }];
    return [{ type: "file", path: file, args: args.slice(end + 1), isOwnShell: true }];
  }
  if (args.some(({ text }) => /^--?(?:version|help)$/u.test(text)) || !input) return [];
  if (input.text === undefined) return [{ type: "undecided", text: "what a shell is fed with" }];
  return [{ type: "script", text: literal(input.text), isOwnShell: true }];
}

function hasStdin(args: readonly Word[]): boolean {
  return args.some(({ text }) => /^-[A-Za-z]*s[A-Za-z]*$/u.test(text));
}

function sourced({ args }: ProgramCall, input: Input | undefined): readonly Inner[] {
  const [file, ...own] = positional(args);
  if (!file) return [];
  if (file.text === "/dev/stdin") return shellRuns([], input ?? { text: undefined });
  if (/^<\(/u.test(file.text)) return [{ type: "undecided", text: `the script ${file.raw}` }];
  return file.isLiteral ? [{ type: "file", path: file, args: own, isOwnShell: false }] : [];
}

function asScript(text: Word): Inner {
  return { type: "script", text, isOwnShell: true };
}

/** `parallel "rm {}"`: a command line in one word. */
function joinedScripts(args: readonly Word[]): readonly Inner[] {
  return positional(args)
    .filter(({ text }) => /\s/u.test(text))
    .map((word) => asScript(literal(word.text.replace(/\{[^{}]*\}/gu, "$item"))));
}

function joined(args: readonly Word[]): Word {
  return literal(args.map(({ text }) => text).join(" "));
}

function literal(text: string): Word {
  return { text, glob: escapeGlob(text), isLiteral: true, raw: text };
}
