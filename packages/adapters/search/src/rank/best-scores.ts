/** The highest of many scores, without sorting them all. */

export interface BestScore {
  /** Its place among all. */
  readonly at: number;
  readonly score: number;
}

/**
 * Highest first, of equal ones the first; those above 0 alone. *Contract:* `isWanted` is pure, and asked only of what is
 * among the highest of those before it.
 */
export function bestScores(
  scores: Float64Array,
  most: number,
  isWanted: (at: number) => boolean = () => true,
): readonly BestScore[] {
  const best: BestScore[] = [];
  let least = 0;
  for (let at = 0; at < scores.length; at++) {
    const score = scores[at] as number;
    if (score <= least || !isWanted(at)) continue;
    let place = best.length;
    while (place > 0 && (best[place - 1] as BestScore).score < score) place--;
    best.splice(place, 0, { at, score });
    if (best.length > most) best.pop();
    if (best.length === most) least = best[most - 1]?.score ?? 0;
  }
  return best;
}
