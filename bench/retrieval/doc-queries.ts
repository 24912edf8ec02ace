/** Makes queries from doc comments and function names, and removes the queried comments from the files. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { definitionsOf, lineStarts } from "@lathe/search/definitions";
import { kindOf, languageOf } from "@lathe/search/languages";
import { git } from "./git.ts";

export interface FunctionQuery {
  readonly query: string;
  readonly path: string;
  /** Lines of the function, from 1: its head and the lines that certainly follow. */
  readonly line: number;
  readonly name: string;
}

interface Documented extends FunctionQuery {
  /** 0-based lines of the comment. */
  readonly from: number;
  readonly to: number;
}

/**
 * *Contract:* changes the files: removes each sampled comment, and `line` is the function's line afterwards.
 */
export function takeDocQueries(folder: string, count: number): readonly FunctionQuery[] {
  const all = codeFiles(folder).flatMap((path) => documentedIn(folder, path));
  const step = Math.max(1, Math.floor(all.length / count));
  const sample = all.filter((_, at) => at % step === 0).slice(0, count);
  return [...Map.groupBy(sample, ({ path }) => path)].flatMap(([path, found]) =>
    withoutComments(folder, path, found),
  );
}

export function symbolQueries(folder: string, count: number): readonly FunctionQuery[] {
  const all = codeFiles(folder).flatMap((path) => {
    const text = readFileSync(join(folder, path), "utf8");
    return definitionsOf(text, lineStarts(text), languageOf(path))
      .filter(({ name, opens }) => opens && name.length >= 5)
      .map(({ name, line }) => ({ query: name, name, path, line: line + 1 }));
  });
  const known = Map.groupBy(all, ({ name }) => name);
  const single = all.filter(({ name }) => known.get(name)?.length === 1);
  const step = Math.max(1, Math.floor(single.length / count));
  return single.filter((_, at) => at % step === 0).slice(0, count);
}

function codeFiles(folder: string): readonly string[] {
  return git(folder, "ls-files", "-z")
    .split("\0")
    .filter((path) => path !== "" && kindOf(path, languageOf(path)) === "code")
    .filter((path) => !["none", "text", "data"].includes(languageOf(path)));
}

function documentedIn(folder: string, path: string): readonly Documented[] {
  const text = readFileSync(join(folder, path), "utf8");
  const lines = text.split("\n");
  const found: Documented[] = [];
  for (const { line, name, opens } of definitionsOf(text, lineStarts(text), languageOf(path))) {
    const comment =
      opens && (languageOf(path) === "python" ? docstring(lines, line) : commentAbove(lines, { line, path }));
    if (!comment) continue;
    const query = sentenceOf(comment.text, name);
    if (query !== undefined)
      found.push({ query, path, line: line + 1, name, from: comment.from, to: comment.to });
  }
  return found;
}

interface Comment {
  readonly text: string;
  readonly from: number;
  readonly to: number;
}

function commentAbove(
  lines: readonly string[],
  { line, path }: { readonly line: number; readonly path: string },
): Comment | undefined {
  let to = line - 1;
  while (/^\s*[@#]/.test(lines[to] ?? "")) to--;
  let from = to;
  while (/^\s*(?:\/\/|\/\*|\*)/.test(lines[from] ?? "")) from--;
  from++;
  // In languages with a documentation syntax, two slashes start a comment for readers of the body.
  if (from > to || (/\.[cm]?[jt]sx?$|\.java$|\.kt$/.test(path) && !/^\s*\/\*\*/.test(lines[from] ?? "")))
    return undefined;
  const text = lines
    .slice(from, to + 1)
    .map((one) => one.replace(/^\s*(?:\/\/[/!]?|\/\*+!?|\*+\/?)\s?/, "").replace(/\*\/\s*$/, ""));
  return { text: text.join("\n"), from, to };
}

function docstring(lines: readonly string[], line: number): Comment | undefined {
  let from = line;
  while (from < line + 20 && !/:\s*(?:#.*)?$/.test(lines[from] ?? "")) from++;
  from++;
  const quote = /^\s*[rR]?("""|''')/.exec(lines[from] ?? "")?.[1];
  if (quote === undefined) return undefined;
  let to = from;
  const opening = (lines[from] ?? "").indexOf(quote) + 3;
  if (!(lines[from] ?? "").slice(opening).includes(quote)) {
    do to++;
    while (to < lines.length && !(lines[to] ?? "").includes(quote));
  }
  const text = lines
    .slice(from, to + 1)
    .join("\n")
    .replaceAll(quote, "");
  return { text: text.trim(), from, to };
}

/** The first sentence, without the function's own name; undefined if it says too little. */
function sentenceOf(comment: string, name: string): string | undefined {
  const first =
    comment
      .split(/\n\s*\n|\n\s*[@:]|\.\s/)[0]
      ?.replaceAll(/\s+/g, " ")
      .trim() ?? "";
  const query = first
    .replaceAll(new RegExp(`\\b${name}\\b`, "g"), "")
    .replaceAll(/[`*]/g, "")
    .trim();
  const words = query.split(/\s+/).length;
  return words >= 5 && words <= 40 && !/^(?:copyright|todo|fixme|@|eslint|type:)/i.test(query)
    ? query
    : undefined;
}

function withoutComments(
  folder: string,
  path: string,
  found: readonly Documented[],
): readonly FunctionQuery[] {
  const file = join(folder, path);
  const lines = readFileSync(file, "utf8").split("\n");
  const gone = new Set(
    found.flatMap(({ from, to }) => Array.from({ length: to - from + 1 }, (_, at) => from + at)),
  );
  writeFileSync(file, lines.filter((_, at) => !gone.has(at)).join("\n"));
  const before = (line: number): number => [...gone].filter((at) => at < line - 1).length;
  return found.map(({ query, line, name }) => ({ query, path, name, line: line - before(line) }));
}
