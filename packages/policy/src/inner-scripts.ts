/** The scripts that a program call runs: given as an argument, fed to it, looked up in a file, or another name's. */
import { aliasRuns, gitRuns } from "./git-runs.ts";
import type { Inner, Input, Looking } from "./inner.ts";
import { interpreterOf } from "./interpreters.ts";
import { type ProgramCall, positional, without } from "./program-call.ts";
import { makeScripts, packageScripts } from "./project-scripts.ts";
import { escapeGlob } from "./shell-glob.ts";
import type { Word } from "./word.ts";

const shells: ReadonlySet<string> = new Set("bash sh dash zsh ksh ash rbash mksh fish".split(" "));

type Find = (call: ProgramCall, input: Input | undefined, looking: Looking) => readonly Inner[];

const byProgram: Readonly<Record<string, Find>> = {
  eval: ({ args }) => [{ type: "script", text: joined(args), isOwnShell: false }],
  trap: ({ args }) => positional(args).slice(0, 1).map(asScript),
  source: sourced,
  ".": sourced,
  su: ({ args }) => afterOption(args, /^(?:-c|--command|--session-command)(?:=|$)/u),
  script: ({ args }) => afterOption(args, /^(?:-\w*c|--command)(?:=|$)/u),
  env: ({ args }) => afterOption(args, /^(?:-\w*S|--split-string)(?:=|$)/u),
  flock: ({ args }) => afterOption(args, /^(?:-c|--command)$/u),
  "nix-shell": ({ args }) => afterOption(args, /^(?:--run|--command)$/u),
  nodemon: ({ args }) => afterOption(args, /^(?:-x|--exec)(?:=|$)/u),
  watchexec: ({ args }) => [{ type: "script", text: joined(positional(args)), isOwnShell: true }],
  watch: ({ args }) => [{ type: "script", text: joined(positional(args)), isOwnShell: true }],
  hyperfine: ({ args }) => positional(args).map(asScript),
  concurrently: ({ args }) => positional(args).map(asScript),
  "npm-run-all": () => [],
  parallel: ({ args }) => {
    const at = args.findIndex(({ text }) => text.startsWith(":::"));
    return at === 0 ? args.slice(1).map(asScript) : joinedScripts(args.slice(0, at < 0 ? undefined : at));
  },
  git: (call, _, looking) => [...gitRuns(call), ...aliasRuns(call, looking)],
  make: makeScripts,
  gmake: makeScripts,
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
  if (find) return find(call, input, looking);
  if (interpreterOf(call)) return [];
  // A file that is run by its name.
  return call.word.text.includes("/") &&
    call.word.isLiteral &&
    !/^\/(?:usr|bin|sbin|opt|nix)\b/u.test(call.word.text)
    ? [{ type: "file", path: call.word, args, isOwnShell: true }]
    : [];
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

function afterOption(args: readonly Word[], option: RegExp): readonly Inner[] {
  return args.flatMap((word, i) => {
    const found = option.exec(word.text)?.[0];
    if (found === undefined) return [];
    const text = word.text.length > found.length ? without(word, found) : args[i + 1];
    return text ? [asScript(text)] : [];
  });
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
