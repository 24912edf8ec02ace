/** tsc: the TypeScript compiler, which checks a whole project. */
import type { Problem } from "@lathe/protocol";
import { type Checker, notChecked, type Ran, type Reading } from "../checker.ts";

/** `a.ts(1,14): error TS2322: text`, or without a place where it is about the project. */
const line = /^(?:(.+?)\((\d+),(\d+)\): )?(error|warning|message) (TS\d+): (.*)$/su;

export const tsc: Checker = {
  name: "tsc",
  knows: /\.(?:[cm]?ts|tsx|[cm]?jsx?)$/u,
  pace: 6,
  marks: [{ file: /^tsconfig\.json$/u }],
  home: "node",
  program: "tsc",
  // A project of projects has no files of its own: checked by itself it is always well.
  words: (_paths, settings) => [
    ...(/"references"\s*:/u.test(settings) ? ["-b"] : ["-p", "."]),
    ..."--noEmit --pretty false".split(" "),
  ],
  read(ran) {
    const { problems, whole } = readLines(ran.output);
    if (whole !== undefined) return notChecked("tsc", { ...ran, output: whole });
    return problems.length === 0 && ran.code !== 0 ? notChecked("tsc", ran) : { problems };
  },
};

interface Lines extends Reading {
  /** What is wrong with the project itself, so that its files were not checked. */
  readonly whole?: string;
}

function readLines(output: Ran["output"]): Lines {
  const problems: Problem[] = [];
  for (const text of output.split(/\r?\n/u)) {
    const [, path, at, column, severity, code = "", message = ""] = line.exec(text) ?? [];
    const last = problems.at(-1);
    if (severity === undefined) {
      // What is indented says more of the one before.
      if (last && /^\s+\S/u.test(text))
        problems[problems.length - 1] = { ...last, message: `${last.message} ${text.trim()}` };
      continue;
    }
    if (path === undefined) return { problems, whole: text };
    const kind = severity === "message" ? "info" : (severity as "error" | "warning");
    problems.push({ path, line: Number(at), column: Number(column), severity: kind, code, message });
  }
  return { problems };
}
