/** Scores answers: hit@1, hit@10, mean reciprocal rank, and whether the function is among the shown lines. */

export interface Answer {
  readonly path: string;
  readonly startLine: number;
  readonly endLine: number;
}

export interface Figures {
  readonly queries: number;
  readonly hit1: number;
  readonly hit10: number;
  readonly mrr: number;
  /** Whether the function begins among the lines of the first ten files, 600 lines at most. */
  readonly func10: number;
}

const maxLines = 600;

export function fileRank(answers: readonly Answer[], paths: readonly string[]): number {
  const files = [...new Set(answers.map(({ path }) => path))];
  const at = files.findIndex((path) => paths.includes(path));
  return at < 0 ? Number.POSITIVE_INFINITY : at + 1;
}

export function showsLine(answers: readonly Answer[], path: string, line: number): boolean {
  let shown = 0;
  for (const answer of answers) {
    shown += answer.endLine - answer.startLine + 1;
    if (shown > maxLines) return false;
    if (answer.path === path && answer.startLine <= line && line <= answer.endLine) return true;
  }
  return false;
}

export function figuresOf(ranks: readonly number[], shown: readonly boolean[] = []): Figures {
  const share = (count: number): number => count / Math.max(1, ranks.length);
  return {
    queries: ranks.length,
    hit1: share(ranks.filter((rank) => rank === 1).length),
    hit10: share(ranks.filter((rank) => rank <= 10).length),
    mrr: share(ranks.reduce((sum, rank) => sum + 1 / rank, 0)),
    func10: share(shown.filter(Boolean).length),
  };
}
