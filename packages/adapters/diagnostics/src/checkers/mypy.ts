/** mypy: checks the types of Python. */
import type { Problem } from "@lathe/protocol";
import { type Checker, notChecked } from "../checker.ts";

/** `a.py:3:12: error: text  [code]`; the column may be missing. */
const line = /^(.+?):(\d+):(?:(\d+):)? (error|warning|note): (.*?)(?: {2}\[([\w-]+)\])?$/su;

export const mypy: Checker = {
  name: "mypy",
  knows: /\.pyi?$/u,
  pace: 5,
  marks: [
    { file: /^\.?mypy\.ini$/u },
    { file: /^pyproject\.toml$/u, says: /\bmypy\b/u },
    { file: /^setup\.cfg$/u, says: /^\[mypy/mu },
  ],
  home: "python",
  program: "mypy",
  words: (paths, settings) => [
    ..."--no-pretty --no-color-output --no-error-summary --show-column-numbers --show-error-codes".split(" "),
    ...(paths.length > 0 ? paths : wholeProject(settings)),
  ],
  read(ran) {
    const problems = ran.output.split(/\r?\n/u).flatMap(problemOf);
    // It continues without unreadable settings; 2 is a crash, or a file that it cannot parse.
    const isUnset = /\b(?:Unrecognized option|Invalid|Error parsing|error in config)/iu.test(ran.errors);
    if (isUnset || (problems.length === 0 && ran.code !== 0)) return notChecked("mypy", ran);
    return { problems, notes: ran.code > 1 ? ["mypy stopped early"] : [] };
  },
};

/** Respects settings that name the files to check. */
function wholeProject(settings: string): readonly string[] {
  return /^\s*(?:files|packages|modules)\s*=/mu.test(settings) ? [] : ["."];
}

function problemOf(text: string): readonly Problem[] {
  const [, path, at, column, severity, message, code] = line.exec(text) ?? [];
  if (path === undefined || message === undefined) return [];
  return [
    {
      path,
      line: Number(at),
      column: Number(column ?? 1),
      severity: severity === "note" ? "info" : (severity as "error" | "warning"),
      ...(code !== undefined && { code }),
      message,
    },
  ];
}
