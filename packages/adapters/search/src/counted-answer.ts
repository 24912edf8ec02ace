import { type Failure, isFailure, type RankedRange, type RankResult } from "@lathe/protocol";
import { type RankRequest, wantedBy } from "./asked-files.ts";
import { readQuietly } from "./build/index-files.ts";
import { kindOf, languageOf } from "./definitions/languages.ts";
import { listTree } from "./list-tree.ts";
import { nestedIgnore } from "./nested-ignore.ts";
import { bestWindow, countedFiles } from "./rank/fallback.ts";

const shownLines = 40;

export async function countedAnswer(asked: RankRequest, signal: AbortSignal): Promise<RankResult> {
  const ranges = await countedRanges(asked, "the index is being built", signal);
  return { ranges, leftOut: 0, partial: true };
}

/** Below a path of which nothing is indexed. */
export async function unindexedAnswer(
  asked: RankRequest,
  signal: AbortSignal,
): Promise<RankResult | Failure> {
  const { place, fileFilter } = asked;
  let [files, leftOut] = [0, 0];
  const see = (path: string): void => {
    files++;
    if (fileFilter.wanted(path) && fileFilter.excluded(path)) leftOut++;
  };
  const failed = await listTree(place, see, signal);
  if (isFailure(failed)) return failed;
  const ranges = await countedRanges(asked, "it is not indexed", signal);
  const remark = `${place.path} is ignored, so that it is not indexed: ranked by how often the words are there`;
  return { ranges, leftOut, partial: false, ...(files > leftOut && { remark }) };
}

async function countedRanges(
  asked: RankRequest,
  because: string,
  signal: AbortSignal,
): Promise<readonly RankedRange[]> {
  const { place, query } = asked;
  const wanted = wantedBy(asked);
  const isKind = (path: string): boolean =>
    query.kind === undefined || kindOf(path, languageOf(path)) === query.kind;
  const counted = await countedFiles(place, query.query, signal);
  const ignored = nestedIgnore(place);
  const files = counted
    .filter(({ path }) => wanted(path) && isKind(path) && !ignored(path))
    .slice(0, query.k);
  return files.flatMap(({ path, score, words }): readonly RankedRange[] => {
    const bytes = readQuietly(place.root, path);
    if (!bytes) return [];
    const all = Buffer.from(bytes).toString("utf8").split(/\r?\n/);
    const from = bestWindow(all, words, shownLines);
    const lines = all.slice(from, from + shownLines);
    return [
      {
        path,
        startLine: from + 1,
        endLine: from + lines.length,
        score: Math.round(score * 100) / 100,
        why: `has ${words.join(", ")} (counted: ${because})`,
        lines,
      },
    ];
  });
}
