/** Suspicious lines without coverage: stack frames, and the functions that the tests' texts name, in the files they import. */

import { posix } from "node:path";
import type { Frame } from "./failure-report.ts";
import type { Suspect } from "./suspicion.ts";
import { isTestFile } from "./test-file.ts";

export interface StaticEvidence {
  readonly files: readonly string[];
  /** Text of a workspace file. */
  text(path: string): Promise<string>;
  /** Test files that fail; all when empty. */
  readonly tests: readonly string[];
  readonly frames: readonly Frame[];
}

const SOURCE = /\.(?:[cm]?[jt]sx?|py)$/;

/** Every line of the source files the tests reach, weighed by how likely the tests run it. */
export async function staticSuspects(evidence: StaticEvidence): Promise<readonly Suspect[]> {
  const failing = evidence.tests.filter((file) => evidence.files.includes(posix.normalize(file)));
  const tests =
    failing.length > 0 ? failing : evidence.files.filter((file) => isTestFile(file) && SOURCE.test(file));
  const reached = await importsOf(tests, evidence);
  const words = new Set(
    (await Promise.all(tests.map(evidence.text))).flatMap((text) => text.match(/[A-Za-z_]\w+/g) ?? []),
  );
  const out: Suspect[] = [];
  for (const path of reached) {
    const frames = new Set(evidence.frames.filter((frame) => frame.path === path).map((frame) => frame.line));
    out.push({ path, lines: weigh(await evidence.text(path), words, frames) });
  }
  return out;
}

/** Source files imported by the given files, directly or not. */
async function importsOf(from: readonly string[], evidence: StaticEvidence): Promise<readonly string[]> {
  const known = new Set(evidence.files);
  const seen = new Set<string>(from);
  const queue = [...from];
  for (let path = queue.shift(); path !== undefined && seen.size < 60; path = queue.shift()) {
    for (const next of importedBy(path, await evidence.text(path), known)) {
      if (!seen.has(next)) queue.push(next);
      seen.add(next);
    }
  }
  const reached = [...seen].filter((path) => !isTestFile(path) && SOURCE.test(path));
  return reached.length > 0
    ? reached
    : evidence.files.filter((path) => SOURCE.test(path) && !isTestFile(path)).slice(0, 20);
}

function importedBy(path: string, text: string, known: ReadonlySet<string>): readonly string[] {
  const folder = posix.dirname(path);
  if (path.endsWith(".py")) return pythonImports(text, folder).filter((file) => known.has(file));
  const goals = [...text.matchAll(/(?:from|import|require\(|import\()\s*["'](\.[^"']*)["']/g)].map((match) =>
    posix.join(folder, match[1] ?? ""),
  );
  return goals.flatMap((goal) => {
    const stem = goal.replace(/\.[cm]?js$/, "");
    const found = [
      goal,
      ...["ts", "tsx", "js", "mjs", "cjs", "mts", "jsx"].flatMap((end) => [
        `${stem}.${end}`,
        `${goal}.${end}`,
        `${goal}/index.${end}`,
      ]),
    ].find((file) => known.has(file));
    return found === undefined ? [] : [found];
  });
}

function pythonImports(text: string, folder: string): readonly string[] {
  const names = [...text.matchAll(/^\s*(?:from\s+([\w.]+)\s+import\s+([\w, ]+)|import\s+([\w.]+))/gm)];
  return names.flatMap((match) => {
    const module = (match[1] ?? match[3] ?? "").replace(/^\.+/, "").replaceAll(".", "/");
    const inner = (match[2] ?? "").split(",").map((name) => `${module}/${name.trim()}`);
    return [module, ...inner].flatMap((name) =>
      ["", folder, "src", "lib"].flatMap((base) => [
        posix.join(base, `${name}.py`),
        posix.join(base, name, "__init__.py"),
      ]),
    );
  });
}

const HEAD =
  /^\s*(?:export\s+)?(?:default\s+)?(?:async\s+)?(?:def|function\*?|class|const|let|static|get|set)?\s*([A-Za-z_]\w*)\s*(?:=|\(|:|<|\{)/;

/** Lines below the head of a function that the tests name weigh more. */
function weigh(
  text: string,
  words: ReadonlySet<string>,
  frames: ReadonlySet<number>,
): ReadonlyMap<number, number> {
  const lines = new Map<number, number>();
  let level = Number.POSITIVE_INFINITY;
  text.split("\n").forEach((line, index) => {
    if (line.trim() === "") return;
    const indent = line.length - line.trimStart().length;
    const name = HEAD.exec(line)?.[1];
    if (indent <= level && !/^\s*[})\]]/.test(line))
      level = name !== undefined && words.has(name) ? indent : Number.POSITIVE_INFINITY;
    const base = indent >= level ? 0.9 : 0.5;
    lines.set(index + 1, frames.has(index + 1) ? base * 1.4 : base);
  });
  return lines;
}
