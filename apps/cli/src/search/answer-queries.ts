/** Answers ranked queries of the command line: one for people, or many, line by line. */

import { loadConfig } from "@lathe/config";
import { type CodeSearch, type CodeSearchOptions, openCodeSearch } from "@lathe/hosts/tools";
import { type Failure, isFailure, type RankedRange, type RankQuery } from "@lathe/protocol";
import { jsonLines } from "@lathe/rpc";
import { cutLine, harmless, paletteFor } from "@lathe/terminal";
import { problemLine } from "../command-line/show-failure.ts";
import { whileBusy } from "../output/while-busy.ts";
import { tellLeftOut } from "./tell-left-out.ts";

/** How long a query waits for the complete index. */
const patienceMs = 600_000;
/** How many lines of a range are shown, and how many ranges beyond the best of each file. */
const shownLines = 6;
const never = new AbortController().signal;

interface Shown {
  readonly folder: string;
  readonly json: boolean;
}

export async function searchOnce(query: RankQuery, { folder, json }: Shown): Promise<number | Failure> {
  const opened = await openSearch(folder, { isOneShot: true });
  if (isFailure(opened)) return opened;
  const { search, exclude } = opened;
  const asking = (): ReturnType<typeof search.rank> => search.rank({ ...query, exclude }, never);
  const found = await whileBusy("indexing and searching", asking);
  if (isFailure(found)) return found;
  const { ranges, remark } = found;
  if (remark !== undefined) process.stderr.write(problemLine(remark));
  if (json)
    process.stdout.write(
      `${JSON.stringify({ query: query.query, results: ranges, leftOut: found.leftOut })}\n`,
    );
  else
    process.stdout.write(ranges.length > 0 ? listed(ranges, query.k) : `Nothing found for ${query.query}.\n`);
  if (ranges.length > 0) return 0;
  tellLeftOut(found.leftOut);
  return 1;
}

/** Opens the search with the user's embedding server, if there is one. */
async function openSearch(
  folder: string,
  { isOneShot }: Pick<CodeSearchOptions, "isOneShot">,
): Promise<CodeSearch | Failure> {
  const config = await loadConfig(folder, process.env, {});
  if (isFailure(config)) return config;
  const embeddings = config.search?.embeddings;
  return openCodeSearch(folder, process.env, { patienceMs, isOneShot, ...(embeddings && { embeddings }) });
}

/** The best range of each file; the file's other ranges are listed after its name. */
function listed(ranges: readonly RankedRange[], k: number): string {
  const paint = paletteFor(process.stdout, process.env);
  const width = process.stdout.columns || 110;
  const files = Map.groupBy(ranges, ({ path }) => path);
  const pieces = [...files].slice(0, k).map(([path, [best, ...more]]) => {
    if (!best) return "";
    const also = more.slice(0, 4).map(({ startLine }) => startLine);
    const head = `${paint.bold(harmless(path))}${paint.dim(`:${best.startLine}-${best.endLine}`)}`;
    const why = paint.dim(
      cutLine(`  ${best.why}${also.length > 0 ? `; also at ${also.join(", ")}` : ""}`, width),
    );
    const solid = best.lines
      .map((text, at) => [best.startLine + at, text] as const)
      .filter(([, text]) => text.trim() !== "");
    const lines = solid
      .slice(0, shownLines)
      .map(([at, text]) => `${paint.dim(String(at).padStart(6))}  ${cutLine(text, width - 8)}`);
    return [head, why, ...lines].join("\n");
  });
  return `${pieces.join("\n\n")}\n`;
}

interface Line {
  readonly id?: unknown;
  readonly root?: unknown;
  readonly query?: unknown;
  readonly k?: unknown;
}

interface Opened {
  readonly code: CodeSearch;
  readonly isOneShot: boolean;
}

/** Returns 0 if every line had an answer. */
export async function answerLines(): Promise<number> {
  const opened = new Map<string, Opened>();
  let code = 0;
  for await (const lines of jsonLines(process.stdin)) {
    for (const line of lines) {
      const answer = await answerTo(line, opened);
      if ("error" in answer) code = 1;
      process.stdout.write(`${JSON.stringify(answer)}\n`);
    }
  }
  return code;
}

type Answer = { readonly id: unknown } & (
  | { readonly results: readonly Omit<RankedRange, "lines">[] }
  | { readonly error: { readonly code: string; readonly text: string } }
);

async function answerTo(line: string, opened: Map<string, Opened>): Promise<Answer> {
  const asked = parsed(line);
  if (!asked)
    return { id: null, error: { code: "invalid-arguments", text: "the line is not a JSON object" } };
  const { id = null, root = ".", query, k = 10 } = asked;
  const problem = (text: string): Answer => ({ id, error: { code: "invalid-arguments", text } });
  if (typeof root !== "string" || typeof query !== "string")
    return problem("root and query have to be texts");
  if (typeof k !== "number" || !(k >= 1)) return problem("k has to be a number from 1 up");
  const code = await openedFor(root, opened);
  const found = isFailure(code)
    ? code
    : await code.search.rank({ query, k: Math.floor(k), exclude: code.exclude }, never);
  if (isFailure(found)) return { id, error: { code: found.code, text: found.text } };
  const results = found.ranges.map(({ path, startLine, endLine, score, why }) => ({
    path,
    startLine,
    endLine,
    score,
    why,
  }));
  return { id, results };
}

/** Watches a folder for changes only from its second query on; a single query checks the files instead. */
async function openedFor(root: string, opened: Map<string, Opened>): Promise<CodeSearch | Failure> {
  const known = opened.get(root);
  if (known?.isOneShot === false) return known.code;
  const isOneShot = known === undefined;
  const code = await openSearch(root, { isOneShot });
  if (!isFailure(code)) opened.set(root, { code, isOneShot });
  return code;
}

function parsed(line: string): Line | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
