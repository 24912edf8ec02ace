/** Greps a text that is not a file: the whole of an output that was shown in part. */
import { Worker } from "node:worker_threads";
import { type Failure, failure, type GrepLine, isFailure, matchedPart, type Span } from "@lathe/protocol";
import { linesOf } from "./numbered-lines.ts";

/** A pattern that takes longer than this backtracks forever. */
const patienceMs = 2_000;

export interface TextQuery {
  readonly pattern: string;
  readonly literal: boolean;
  readonly ignoreCase: boolean;
  /** Lines shown around each match. */
  readonly context: number;
  readonly limit: number;
}

export interface TextMatches {
  readonly lines: readonly Omit<GrepLine, "path" | "spans">[];
  readonly more: boolean;
}

/** *Contract:* never rejects. */
export async function grepText(text: string, query: TextQuery): Promise<TextMatches | Failure> {
  const lines = linesOf(text);
  const found = await matchingLines(lines, query);
  if (isFailure(found)) return found;
  const wanted = found.slice(0, query.limit);
  const matches = new Map(wanted.map(({ at, span }) => [at, span]));
  const near = new Set(wanted.flatMap(({ at }) => around(at, query.context, lines.length)));
  return {
    lines: [...near]
      .sort((a, b) => a - b)
      .map((at) => {
        const span = matches.get(at);
        const { text: shown } = matchedPart(lines[at] ?? "", span ? [span] : []);
        return { line: at + 1, text: shown, match: span !== undefined };
      }),
    more: found.length > wanted.length,
  };
}

function around(at: number, context: number, length: number): readonly number[] {
  const first = Math.max(0, at - context);
  return Array.from({ length: Math.min(length - 1, at + context) - first + 1 }, (_, i) => first + i);
}

/** Returns at most one line more than the limit. */
async function matchingLines(
  lines: readonly string[],
  { pattern, literal, ignoreCase, limit }: TextQuery,
): Promise<readonly Found[] | Failure> {
  const source = literal ? pattern.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&") : pattern;
  const inline = /^\(\?i\)/.test(source);
  const cannot = (why: string, cause?: unknown): Failure =>
    failure("search-failed", `the pattern ${pattern} cannot be searched for: ${why}`, { cause });
  try {
    const regExp = new RegExp(source.replace(/^\(\?i\)/, ""), ignoreCase || inline ? "i" : "");
    const found = await searchedApart({ lines, regExp, most: limit + 1 });
    return found ?? cannot("it takes too long: make it simpler");
  } catch (cause) {
    return cannot("it is not a valid regular expression", cause);
  }
}

/** The index of a line, and the position of the first match in it. */
interface Found {
  readonly at: number;
  readonly span: Span;
}

interface Search {
  readonly lines: readonly string[];
  readonly regExp: RegExp;
  readonly most: number;
}

const program = `
  const { parentPort, workerData: { lines, regExp, most } } = require("node:worker_threads");
  const found = [];
  for (let at = 0; at < lines.length && found.length < most; at++) {
    const match = regExp.exec(lines[at]);
    if (match) found.push({ at, span: [match.index, match.index + match[0].length] });
  }
  parentPort.postMessage(found);`;

/** A model's pattern runs in a thread, which blocks nothing and can be stopped; undefined if it was. */
async function searchedApart(workerData: Search): Promise<readonly Found[] | undefined> {
  const worker = new Worker(program, { eval: true, workerData });
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise((resolve, reject) => {
      worker.once("message", resolve);
      worker.once("error", reject);
      worker.once("online", () => {
        timer = setTimeout(() => resolve(undefined), patienceMs);
      });
    });
  } finally {
    clearTimeout(timer);
    await worker.terminate();
  }
}
